import { documentsScript } from '../../contracts/host/collections/documents-script.js'

documentsScript('SQLite', async () => ({}))
