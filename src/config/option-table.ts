/**
 * Every option of the gateway, once. From this table come the type of `Config`, the flags, the
 * environment names, the schema of the file, the messages and `docs/reference/options.md`.
 */
import { limits } from '../core/limits.ts'
import { policyNames } from '../core/policy/registry.ts'
import {
  choice,
  duration,
  endpointList,
  headerName,
  headerNames,
  number,
  size,
  text,
  toggle,
  wordMap,
} from './option.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const kib = 1_024
const mib = 1_024 * kib

export const optionTable = {
  endpoints: endpointList({
    group: 'Fleet',
    summary: 'The engines. On the command line: the URLs behind `serve`',
    detail:
      'Each is a URL, or a map with `url` and what the engine does not say of itself: `models`, ' +
      '`engine`, `apiKeyEnv`, `pricePerHour`, `kvCapacityTokens`, `hostCapacityTokens`, ' +
      '`runningMax`. An endpoint that is down at the start is used once its health answers. One ' +
      'that is taken out of the file gets no new requests; what it has may finish within ' +
      '`drainTimeout`.',
    default: [],
    expects: 'a list of URLs, or of maps with a url',
    example: '[http://gpu1:8000, http://gpu2:8000]',
  }),
  host: text({
    group: 'Server',
    needsRestart: true,
    summary: 'Address to listen on',
    detail: 'Use `127.0.0.1` to serve this machine only, `::` for IPv6 and IPv4.',
    default: '0.0.0.0',
    expects: 'an address or host name',
    placeholder: '<address>',
    example: '0.0.0.0',
  }),
  port: number({
    group: 'Server',
    needsRestart: true,
    summary: 'Port to listen on; 0 takes a free one',
    default: 8080,
    min: 0,
    max: 65_535,
  }),
  drainTimeoutMs: duration({
    group: 'Server',
    summary: 'After SIGTERM, how long open requests may still run; also on an endpoint taken out',
    detail:
      'New requests are refused at once, and `/readyz` turns to 503, so that whatever stands in ' +
      'front goes elsewhere. Keep it below the grace period of the supervisor.',
    default: 30 * secondMs,
    min: 0,
    max: 24 * hourMs,
  }),
  policy: choice({
    group: 'Routing',
    needsRestart: true,
    summary: 'How an endpoint is chosen',
    detail: 'Anything but `warmpath` is there to compare with.',
    default: 'warmpath',
    words: policyNames,
  }),
  admission: choice({
    group: 'Routing',
    needsRestart: true,
    summary: 'Whether sessions wait when their contexts outgrow the memory of the fleet',
    detail:
      '`working-set` lets whole sessions wait their turn instead of pushing each other’s ' +
      'contexts out. `auto` does so with the policy `warmpath`, on endpoints that report cached ' +
      'tokens. `none` never holds a request.',
    default: 'auto',
    words: ['auto', 'working-set', 'none'],
  }),
  holdMaxMs: duration({
    group: 'Routing',
    needsRestart: true,
    summary: 'How long a request may wait at the router; then it is answered with 429',
    detail:
      'Keep it below the time limit of the clients, which is ten minutes in the usual libraries. ' +
      'The answer says when to retry, and the session keeps its turn.',
    default: 5 * minuteMs,
    min: secondMs,
    max: 24 * hourMs,
  }),
  aliases: wordMap({
    group: 'Routing',
    summary: 'Names that clients may use for a model',
    detail:
      'The name in the request is replaced by the model; every other byte of the body stays as ' +
      'it is.',
    default: {},
    expects: 'a map from a name to a model',
    example: '{ gpt-4o: Qwen/Qwen3-32B }',
  }),
  unknownModels: choice({
    group: 'Routing',
    summary: 'What happens to a model that no endpoint lists',
    detail:
      '`reject` answers 404 and names the models that exist. `forward` sends the request to any ' +
      'endpoint, for engines that load models on demand.',
    default: 'reject',
    words: ['reject', 'forward'],
  }),
  sessionHeaders: headerNames({
    group: 'Routing',
    summary: 'Request headers that may name the session, the first one present counts',
    detail:
      'Without one a session is recognised by its content, which suffices for chats and agents. ' +
      'It is a hint about placement and gives no rights.',
    default: ['x-session-id'],
  }),
  tenantHeader: headerName({
    group: 'Routing',
    summary: 'Request header that names the tenant',
    detail:
      'Set it only where a proxy in front overwrites the header from an authenticated identity: ' +
      'whoever can choose the name can join the cache namespace of another.',
    default: null,
  }),
  seed: number({
    group: 'Routing',
    needsRestart: true,
    summary: 'Seed of the random numbers that break ties',
    detail: 'The same seed and the same events give the same decisions.',
    default: 1,
    min: 0,
    max: 4_294_967_295,
  }),
  maxBodyBytes: size({
    group: 'Limits on clients',
    summary: 'Largest request body; a larger one is answered with 413',
    default: 32 * mib,
    min: 1,
    max: 1_024 * mib,
  }),
  maxHeaderBytes: size({
    group: 'Limits on clients',
    summary: 'Largest request head, with the URL; a larger one is answered with 431',
    default: 32 * kib,
    min: kib,
    max: mib,
  }),
  maxOpenRequests: number({
    group: 'Limits on clients',
    summary: 'Requests that may be open at once; more are answered with 503',
    default: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  headersTimeoutMs: duration({
    group: 'Limits on clients',
    summary: 'How long a client may take to send its headers',
    default: 20 * secondMs,
    min: secondMs,
    max: hourMs,
  }),
  bodyTimeoutMs: duration({
    group: 'Limits on clients',
    summary: 'How long a client may be silent while it sends its body',
    default: 30 * secondMs,
    min: secondMs,
    max: hourMs,
  }),
  connectTimeoutMs: duration({
    group: 'Limits on engines',
    needsRestart: true,
    summary: 'How long connecting to an engine may take',
    default: 2 * secondMs,
    min: 10,
    max: minuteMs,
  }),
  firstByteTimeoutMs: duration({
    group: 'Limits on engines',
    summary: 'How long an engine may take to begin its answer, beyond the predicted time',
    detail:
      'The predicted wait and prefill of the request are added. Keep it above the time that an ' +
      'engine takes to load a model, where models are loaded on demand.',
    default: 5 * minuteMs,
    min: secondMs,
    max: 24 * hourMs,
  }),
  streamIdleTimeoutMs: duration({
    group: 'Limits on engines',
    summary: 'How long an answer that has begun may be silent',
    detail: 'There is no limit on the whole length of an answer.',
    default: 2 * minuteMs,
    min: secondMs,
    max: 24 * hourMs,
  }),
  upstreamIdleMs: duration({
    group: 'Limits on engines',
    needsRestart: true,
    summary: 'How long an unused connection to an engine is kept',
    detail: "Keep it below the engine's own limit, which is 5 s for vLLM and SGLang.",
    default: 4 * secondMs,
    min: 0,
    max: hourMs,
  }),
  retriesMax: number({
    group: 'Limits on engines',
    summary: 'How often a request may be sent elsewhere after a failure',
    detail: 'Only before a byte of an answer, and never while the first attempt may still run.',
    default: limits.attemptsMax - 1,
    min: 0,
    max: limits.attemptsMax - 1,
  }),
  retryBudgetRatio: number({
    group: 'Limits on engines',
    summary: 'Retries per request that the router may spend, on average',
    detail: 'Keeps an outage from multiplying the load on what is left of the fleet.',
    default: 0.2,
    min: 0,
    max: 1,
    fraction: true,
  }),
  healthIntervalMs: duration({
    group: 'Health',
    summary: 'Time between two health probes of an endpoint',
    default: secondMs,
    min: 100,
    max: minuteMs,
  }),
  healthTimeoutMs: duration({
    group: 'Health',
    summary: 'How long a probe may take',
    detail: 'A busy engine may answer late; requests that make progress count as health, too.',
    default: 5 * secondMs,
    min: 100,
    max: minuteMs,
  }),
  scrapeIntervalMs: duration({
    group: 'Health',
    summary: "Time between two reads of an engine's metrics",
    default: 2 * secondMs,
    min: 100,
    max: minuteMs,
  }),
  responseHeaders: toggle({
    group: 'Answers',
    summary: 'The x-warmpath-… headers on answers',
    detail:
      '`x-warmpath-endpoint`, `x-warmpath-reason`, `x-warmpath-request-id` and, of a request ' +
      'that waited at the router, `x-warmpath-held-ms`. Turn them off where clients must not ' +
      'learn the names of engines.',
    default: true,
  }),
  sseKeepAliveMs: duration({
    group: 'Answers',
    summary: 'After this silence before the first token, send an SSE comment; 0 never does',
    detail:
      'For a proxy in front that cuts idle connections. It commits the answer to status 200 ' +
      'before the engine has spoken.',
    default: 0,
    min: 0,
    max: hourMs,
  }),
  decisionLog: text({
    group: 'Logs',
    needsRestart: true,
    summary: 'File that takes every event and decision, as JSON lines',
    detail: 'It holds hashes and sizes, never prompts. The simulator replays it.',
    default: null,
    expects: 'the path of a file',
    placeholder: '<file>',
    example: 'decisions.jsonl',
  }),
  logLevel: choice({
    group: 'Logs',
    needsRestart: true,
    summary: 'What is logged on stderr',
    default: 'info',
    words: ['error', 'warn', 'info', 'debug'],
  }),
  logFormat: choice({
    group: 'Logs',
    needsRestart: true,
    summary: 'Lines for people or for machines',
    detail: '`auto` writes text to a terminal and JSON elsewhere.',
    default: 'auto',
    words: ['auto', 'text', 'json'],
  }),
} as const
