throw new Error(`bad key ${process.env.API_SECRET}`)
