/** What the rows of the page on failures stand for: how far the engine goes, what breaks then. */
import type { TestContext } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import type { GatewayStage } from '../support/gateway-stage.ts'
import type { RawClient } from '../support/raw-client.ts'
import {
  answersWell,
  type EngineCall,
  lastEvents,
  type RawEngine,
  tokenEvent,
  wholeAnswer,
} from '../support/raw-engine.ts'

/** What a scenario can break things with. */
export interface Played {
  readonly engine: RawEngine
  readonly stage: GatewayStage
  readonly client: RawClient
  /** The call at the engine that is to fail. */
  call(): Promise<EngineCall>
}

export interface Scenario {
  /** Fields of the request besides those of a chat completion. */
  readonly fields?: object
  readonly path?: string
  readonly config?: Partial<Config>
  readonly timeScale?: number
  /** Done to the engine before the request comes. */
  readonly before?: (engine: RawEngine, t: TestContext) => unknown
  /** What the engine writes. */
  readonly engine: (call: EngineCall) => unknown
  /** What happens once it has written that. */
  readonly act?: (played: Played) => unknown
  /** The client is the one that ends it. */
  readonly clientLeaves?: true
  /** The router, or the engine's time with it, ends: all that is asked must be asked before. */
  readonly drains?: true
  /** The engine does not even accept the connection. */
  readonly connects?: false
}

const silent = (): void => {}
const fails = '{"error":{"message":"as told","type":"x","param":null,"code":1}}'
const streaming = { stream: true }
const storing = { path: '/v1/responses', fields: { input: 'Say hello.', store: true } }
const shortLimits = { firstByteTimeoutMs: 100, streamIdleTimeoutMs: 100, connectTimeoutMs: 100 }

/** Nothing shows that the router has read a head; it has, after this. */
const headReadMs = 40
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, headReadMs))

const leave = {
  clientLeaves: true,
  act: ({ client }: Played) => client.close(),
} as const

const drain = {
  drains: true,
  act: ({ stage }: Played) => stage.gateway.drain(),
} as const

/** The engine is taken out of the configuration; it has no time left. */
const remove = {
  drains: true,
  act: ({ stage, engine }: Played) => stage.without(engine),
} as const

/** Refuses new connections, keeps this one, says nothing more (F137). */
const hang = {
  config: { healthIntervalMs: 500 },
  timeScale: 10,
  act: ({ engine }: Played) => engine.refuseAndCloseIdle(),
} as const

/** Behind the scenario's own first step. */
function behind(first: (played: Played) => unknown, step: Pick<Scenario, 'act'>) {
  const act = async (played: Played): Promise<void> => {
    await first(played)
    await step.act?.(played)
  }
  return { ...step, act }
}

const breaks = (how: 'reset' | 'close') => ({
  act: async ({ call }: Played) => (await call())[how](),
})

const arrived = ({ call }: Played): Promise<unknown> => call()
const afterArrival = <S extends Pick<Scenario, 'act'>>(step: S) => ({
  ...step,
  ...behind(arrived, step),
  engine: silent,
})

const afterHead = <S extends Pick<Scenario, 'act'>>(step: S) => ({
  ...step,
  ...behind(async (played) => {
    await arrived(played)
    await pause()
  }, step),
  fields: streaming,
  engine: (call: EngineCall) => call.beginStream(),
})

const answer = wholeAnswer('hello')
const half = answer.slice(0, 40)
const afterHalf = <S extends Pick<Scenario, 'act'>>(step: S) => ({
  ...step,
  ...behind(({ client }) => client.until(half), step),
  engine: (call: EngineCall) =>
    call.begin(200, ['content-type: application/json'], answer.length).part(half),
})

const afterTokens = <S extends Pick<Scenario, 'act'>>(step: S) => ({
  ...step,
  ...behind(({ client }) => client.until('two'), step),
  fields: streaming,
  engine: (call: EngineCall) =>
    call.beginStream().chunk(tokenEvent('one')).chunk(tokenEvent('two')),
})

const answers = (status: number, ...headers: string[]): Scenario => ({
  engine: (call) => call.answer(status, fails, headers),
})

const streams = (...events: string[]): Scenario => ({
  fields: streaming,
  engine: (call) => {
    call.beginStream()
    for (const event of events) call.chunk(event)
    call.endChunks()
  },
})

const errorEvent = `data: ${fails}\n\n`

export const scenarios: Readonly<Record<string, Scenario>> = {
  'connect-refused': { before: (engine) => engine.stop(), engine: silent, connects: false },
  'connect-refused-storing': {
    ...storing,
    before: (engine) => engine.stop(),
    engine: silent,
    connects: false,
  },
  'connect-stall': {
    before: (engine, t) => engine.stopAccepting(t),
    config: shortLimits,
    engine: silent,
    connects: false,
  },
  'connect-client-gone': {
    ...behind(pause, leave),
    clientLeaves: true,
    before: (engine, t) => engine.stopAccepting(t),
    engine: silent,
    connects: false,
  },
  'connect-drain': {
    ...behind(pause, drain),
    drains: true,
    before: (engine, t) => engine.stopAccepting(t),
    engine: silent,
    connects: false,
  },

  'connect-removed': {
    ...behind(pause, remove),
    drains: true,
    before: (engine, t) => engine.stopAccepting(t),
    engine: silent,
    connects: false,
  },

  // On a kept connection the first one counts as an idle close, and a second follows.
  'sent-reset': { engine: (call) => call.reset() },
  'sent-closed': { engine: (call) => call.close() },
  'sent-stall': { engine: silent, config: shortLimits },
  'sent-garbage': { engine: (call) => call.write('SSH-2.0-OpenSSH_9.2\r\n') },
  'sent-engine-gone': afterArrival(hang),
  'sent-storing-reset': {
    ...storing,
    engine: (call) => call.reset(),
  },
  'sent-storing-idle-close': {
    ...storing,
    engine: (call) => call.close(),
  },
  'sent-idle-close': {
    // The connection of the probe is kept, and carries the request first.
    engine: (call) => (call.reused ? call.close() : answersWell(call)),
  },
  'sent-client-gone': afterArrival(leave),
  'sent-removed': afterArrival(remove),
  'sent-removed-storing': { ...afterArrival(remove), ...storing },
  'sent-drain': afterArrival(drain),

  'headers-400': answers(400),
  'headers-404': answers(404),
  'headers-422': answers(422),
  'headers-429': answers(429),
  'headers-429-retry-after': answers(429, 'retry-after: 30'),
  'headers-500': answers(500),
  'headers-503': answers(503),
  'headers-503-storing': { ...answers(503), ...storing },
  'headers-503-retry-after': answers(503, 'retry-after: 30'),
  'headers-503-reset': {
    engine: async (call) => {
      call.begin(503, ['content-type: application/json'], fails.length)
      await pause()
      call.reset()
    },
  },
  'headers-reset': afterHead(breaks('reset')),
  'headers-closed': afterHead(breaks('close')),
  'headers-stall': { ...afterHead({}), config: shortLimits },
  'headers-client-gone': afterHead(leave),
  'headers-removed': afterHead(remove),
  'headers-drain': afterHead(drain),

  'body-reset': afterHalf(breaks('reset')),
  'body-closed': afterHalf(breaks('close')),
  'body-stall': { ...afterHalf({}), config: shortLimits },
  'body-client-gone': afterHalf(leave),
  'body-removed': afterHalf(remove),
  'body-drain': afterHalf(drain),

  'stream-reset': afterTokens(breaks('reset')),
  'stream-closed': afterTokens(breaks('close')),
  'stream-stall': { ...afterTokens({}), config: shortLimits },
  'stream-engine-gone': afterTokens(hang),
  'stream-error-event': streams(tokenEvent('one'), errorEvent),
  'stream-client-gone': afterTokens(leave),
  'stream-removed': afterTokens(remove),
  'stream-drain': afterTokens(drain),

  'end-whole': streams(tokenEvent('one'), lastEvents),
  'end-truncated': streams(tokenEvent('one'), tokenEvent('two')),
  'end-error-then-done': streams(tokenEvent('one'), errorEvent, 'data: [DONE]\n\n'),
  'end-idle-reset': {
    engine: (call) => {
      answersWell(call)
      call.connection.socket.end(() => call.reset())
    },
  },
}
