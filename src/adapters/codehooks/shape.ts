import type { CodehooksRequest, CodehooksResponse } from './message.js'

export function isCodehooksRequest(request: unknown): request is CodehooksRequest {
  if (typeof request !== 'object' || request === null || !('headers' in request)) return false
  return 'originalUrl' in request && ('apiPath' in request || 'apipath' in request)
}

export function isCodehooksResponse(response: unknown): response is CodehooksResponse {
  return typeof response === 'object' && response !== null && 'status' in response && 'setHeader' in response
}
