import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { FetchedText } from '../io/http1/fetch-text.ts'
import { CommandFailure } from './command-failure.ts'

const help = `
Examples:
  warmpath explain 01jq3v8k2m            # the id is in the answer's x-warmpath-request-id
  warmpath explain 01jq3v8k2m --url http://router:8080
  warmpath explain 01jq3v8k2m --json | jq .steps

Times are predicted, in milliseconds; the row marked * was chosen. \`score\` is what the policy
ranked by, lower first.
`

/** `warmpath explain`: why a running gateway sent a request where it went. */
export function register(program: Command): void {
  program
    .command('explain')
    .summary('say why a request went where it went')
    .description('Asks a running gateway why a request went where it went.')
    .argument('<request-id>', 'the x-warmpath-request-id of the answer')
    .option('--url <url>', 'the gateway', 'http://127.0.0.1:8080')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', help)
    .action(explain)
}

const timeoutMs = 10_000
const answerBytesMax = 16_777_216

async function explain(requestId: string, options: { url: string; json?: true }): Promise<void> {
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new CommandFailure(exitCodes.usage, `--url: ${options.url} is not an http URL`)
  }
  const answer = await ask(options.url, `/debug/decisions/${encodeURIComponent(requestId)}`)
  if (answer.status === 404) {
    throw new CommandFailure(
      exitCodes.notFound,
      `the gateway knows no request ${requestId}: it remembers only the latest ones`,
    )
  }
  if (answer.status !== 200) {
    throw new CommandFailure(
      exitCodes.unavailable,
      `${options.url} answered ${answer.status}: is it a Warmpath gateway?`,
    )
  }
  const request = JSON.parse(answer.text)
  const { renderExplanation } = await import('./render-explanation.ts')
  const text = options.json ? JSON.stringify(request, null, 2) : renderExplanation(request)
  process.stdout.write(`${text}\n`)
}

async function ask(url: string, path: string): Promise<FetchedText> {
  const { fetchText } = await import('../io/http1/fetch-text.ts')
  const { UpstreamPool } = await import('../io/http1/upstream-pool.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const scheduler = realTimeScheduler()
  const pool = new UpstreamPool(new URL(url).origin, {}, scheduler)
  try {
    return await fetchText(pool, path, { timeoutMs, bytesMax: answerBytesMax }, scheduler)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFailure(exitCodes.unavailable, `no gateway answers at ${url}: ${why}`)
  } finally {
    pool.close()
  }
}
