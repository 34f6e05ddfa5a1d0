// The same route in each framework, and how node's server hands a request to it.
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'

const answer = { hello: 'world' }

/** `create` makes an application, `route` adds the route, `listener` is what a server calls; `guard` is of the framework's form. */
export const frameworks = {
  express: {
    create: () => express(),
    route: (app, ...guards) => app.get('/api/hello', ...guards, (_request, response) => response.json(answer)),
    listener: (app) => app,
  },
  fastify: {
    create: () => Fastify(),
    route: (app, ...guards) => app.get('/api/hello', { onRequest: guards }, async () => answer),
    async listener(app) {
      await app.ready()
      return app.routing
    },
  },
  hono: {
    create: () => new Hono(),
    route: (app, ...guards) => app.get('/api/hello', ...guards, (c) => c.json(answer)),
    listener: (app) => getRequestListener(app.fetch),
  },
  'node:http': {
    // Its application is the server, which only the server's own file can make.
    create: (server) => server,
    route: (server) => server.on('request', plain),
    listener: () => null,
  },
}

export function plain(_request, response) {
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.end(JSON.stringify(answer))
}
