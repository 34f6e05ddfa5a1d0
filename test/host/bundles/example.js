// The application of examples/codehooks, with Latchkey inside.
export { default } from '../../../examples/codehooks/index.js'
