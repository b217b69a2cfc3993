import { pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'json' | 'text'
export type LogValue = string | number | boolean | null

/** One line for an operator. All of them are made in `log-lines.ts`. */
export interface LogLine {
  readonly level: LogLevel
  /** A stable name to search for: `request.done`, `endpoint.down`. */
  readonly event: string
  readonly message: string
  readonly fields: Readonly<Record<string, LogValue>>
}

export interface Logger {
  log(line: LogLine): void
  /** Whether a line of this level would be written; asked before a costly line is made. */
  enabled(level: LogLevel): boolean
  /** Lines lost because whoever reads the log is too slow. */
  readonly droppedLines: number
  /** Writes out what is buffered, before the process ends. */
  flush(): void
}

/** Where finished lines go, each with its newline. */
export interface LogDestination {
  write(line: string): void
}

export interface LoggerOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  /** Standard error when left out. */
  readonly destination?: LogDestination
}

/** Bytes that wait for a slow reader of the log; lines beyond are dropped and counted. */
const bufferBytesMax = 1_048_576

/** A logger that never blocks on its reader: standard error may be a pipe that nobody empties. */
export function pinoLogger(options: LoggerOptions): Logger {
  let droppedLines = 0
  let flush = (): void => {}
  let sink = options.destination
  if (sink === undefined) {
    const stderr = pino.destination({ dest: 2, sync: false, maxLength: bufferBytesMax })
    stderr.on('drop', () => droppedLines++)
    flush = () => stderr.flushSync()
    sink = { write: (line) => void stderr.write(line) }
  }
  const out = sink
  const destination =
    options.format === 'json' ? out : { write: (line: string) => out.write(textLine(line)) }
  const logger = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  return {
    log: (line) => logger[line.level]({ event: line.event, ...line.fields }, line.message),
    enabled: (level) => logger.isLevelEnabled(level),
    get droppedLines() {
      return droppedLines
    },
    flush,
  }
}

/** For tests and one-shot commands that have nothing to log. */
export const silentLogger: Logger = {
  log: () => {},
  enabled: () => false,
  droppedLines: 0,
  flush: () => {},
}

/** A JSON line as one line of text: `12:00:00.000 warn  endpoint is down  endpoint=http://…`. */
function textLine(json: string): string {
  const { level, time, message, event: _event, ...fields } = JSON.parse(json)
  const clock = String(time).slice(11, 23)
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${plain(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${plainMessage(message)}${rest.join('')}\n`
}

/** Quotes what would break the line or blur where a value ends; a client may have chosen it. */
function plain(value: unknown): string {
  const text = String(value)
  return /^[\w.:/@%+,-]+$/.test(text) ? text : JSON.stringify(text)
}

function plainMessage(message: unknown): string {
  const quoted = JSON.stringify(String(message))
  return quoted.slice(1, -1).replaceAll('\\"', '"')
}
