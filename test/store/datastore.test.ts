import { storeContract } from '../contracts/store.js'
import { openDatastore } from '../support/datastores.js'

storeContract('codehooks Datastore', openDatastore)
