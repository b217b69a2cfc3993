/** The proxies that the gateway is measured beside, each a process before the same engines. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RunningProxy {
  readonly name: string
  readonly url: string
  /** CPU seconds, user and system, of the process and its children. */
  cpuSeconds(): number
  rssMib(): number
  stop(): Promise<void>
}

const root = join(import.meta.dirname, '..')
function has(command: string): boolean {
  try {
    execFileSync('which', [command], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Pins to one core where that is possible, so that proxy and load do not share one. */
export function spawnPinned(core: number, command: string, args: string[], env = {}): ChildProcess {
  const options: SpawnOptions = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  }
  if (!has('taskset')) return spawn(command, args, options)
  return spawn('taskset', ['-c', String(core), command, ...args], options)
}

function nginxArgs(folder: string, port: number, engines: readonly number[]): string[] {
  const servers = engines.map((engine) => `server 127.0.0.1:${engine};`).join(' ')
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
events { worker_connections 16384; }
http { access_log off; client_max_body_size 64m; client_body_buffer_size 1m;
 client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
 fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
 keepalive_requests 1000000;
 upstream engines { ${servers} keepalive 256; keepalive_requests 1000000; }
 server { listen 127.0.0.1:${port} backlog=4096; location / { proxy_pass http://engines;
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
  proxy_read_timeout 1h; } } }`,
  )
  return ['-c', file]
}

function haproxyArgs(folder: string, port: number, engines: readonly number[]): string[] {
  const servers = engines.map((engine) => ` server e${engine} 127.0.0.1:${engine}`).join('\n')
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
 maxconn 8000
 nbthread 1
defaults
 mode http
 timeout connect 2s
 timeout client 1h
 timeout server 1h
 option http-no-delay
 http-reuse always
frontend in
 bind 127.0.0.1:${port}
 default_backend engines
backend engines
 balance roundrobin
${servers}
`,
  )
  return ['-db', '-f', file]
}

/** Null where the program is not installed. */
export async function startProxy(
  name: string,
  port: number,
  engines: readonly number[],
): Promise<RunningProxy | null> {
  const folder = mkdtempSync(join(tmpdir(), 'warmpath-bench-'))
  const child = childOf(name, folder, port, engines)
  if (child === null) return null
  const url = `http://127.0.0.1:${port}`
  await answering(`${url}/v1/models`)
  const pid = child.pid!
  return {
    name,
    url,
    cpuSeconds: () => treeOf(pid).reduce((sum, one) => sum + cpuOf(one), 0),
    rssMib: () => treeOf(pid).reduce((sum, one) => sum + rssOf(one), 0),
    stop: () => stopped(child),
  }
}

function childOf(
  name: string,
  folder: string,
  port: number,
  engines: readonly number[],
): ChildProcess | null {
  if (name === 'nginx') {
    return has('nginx') ? spawnPinned(0, 'nginx', nginxArgs(folder, port, engines)) : null
  }
  if (name === 'haproxy') {
    return has('haproxy') ? spawnPinned(0, 'haproxy', haproxyArgs(folder, port, engines)) : null
  }
  const urls = engines.map((engine) => `http://127.0.0.1:${engine}`)
  const main = join(root, 'src', 'main.ts')
  const args = [main, 'serve', ...urls, '--port', String(port), '--host', '127.0.0.1']
  return spawnPinned(0, process.execPath, [...args, '--log-level', 'error'])
}

export function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

/** Resolves when the address answers 200 to a GET. */
export async function answering(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} does not answer`)
}

/** The process and all below it. */
function treeOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => [Number(entry), parentOf(entry)] as const)
  const tree = [pid]
  for (let i = 0; i < tree.length; i++) {
    for (const [child, parent] of parents) if (parent === tree[i]) tree.push(child)
  }
  return tree
}

function parentOf(pid: string): number {
  return statOf(pid) === null ? -1 : Number(statOf(pid)![1])
}

/** The fields of `/proc/PID/stat` from the state on; null when the process is gone. */
function statOf(pid: number | string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** Of all threads, in nanoseconds by the scheduler's count; 0 for a process that is gone. */
function cpuOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')
      return sum + Number(text.slice(0, text.indexOf(' '))) / 1e9
    }, 0)
  } catch {
    return 0
  }
}

function rssOf(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? 0 : (Number(stat[21]) * 4_096) / 1_048_576
}
