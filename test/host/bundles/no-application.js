export default { hello: 'world' }
