/** A real vLLM on this machine's CPU, with the tiny model. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'

export const servedModel = 'tiny'

export interface VllmServer {
  readonly url: string
  /** SIGKILL to the process and all that it started. */
  kill(): Promise<void>
  /** Starts again on the same port; resolves when its health answers. */
  restart(): Promise<void>
  emptyCache(): Promise<void>
}

/** Memory for 65,536 tokens of KV, in float32. */
const kvBytes = 67_108_864
const startMsMax = 240_000

export async function startVllm(folder: string, port: number): Promise<VllmServer> {
  const url = `http://127.0.0.1:${port}`
  let child = launch(folder, port)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid!, 'SIGKILL')
    await once(child, 'exit')
  }
  await healthy(url, child)
  return {
    url,
    kill,
    async restart() {
      child = launch(folder, port)
      await healthy(url, child)
    },
    async emptyCache() {
      const response = await fetch(`${url}/reset_prefix_cache`, { method: 'POST' })
      if (!response.ok) throw new Error(`reset_prefix_cache: status ${response.status}`)
    },
  }
}

function launch(folder: string, port: number): ChildProcess {
  const { PYTHONDONTWRITEBYTECODE: _, ...inherited } = process.env
  const log = openSync(join(folder, `vllm-${port}.log`), 'a')
  return spawn(
    join(folder, 'vllm', 'bin', 'vllm'),
    [
      ...['serve', join(folder, 'tiny-model'), '--served-model-name', servedModel],
      ...['--host', '127.0.0.1', '--port', String(port), '--dtype', 'float32', '--enforce-eager'],
      ...['--block-size', '32', '--kv-cache-memory-bytes', String(kvBytes)],
      ...['--max-model-len', '32768', '--max-num-seqs', '16', '--max-num-batched-tokens', '2048'],
      ...['--enable-prefix-caching', '--enable-prompt-tokens-details'],
    ],
    {
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        ...inherited,
        HF_HUB_OFFLINE: '1',
        TRANSFORMERS_OFFLINE: '1',
        VLLM_NO_USAGE_STATS: '1',
        VLLM_SERVER_DEV_MODE: '1',
        VLLM_CPU_OMP_THREADS_BIND: 'nobind',
        OMP_NUM_THREADS: '1',
        CUDA_VISIBLE_DEVICES: '',
        VLLM_CACHE_ROOT: join(folder, 'vllm-cache'),
      },
    },
  )
}

async function healthy(url: string, child: ChildProcess): Promise<void> {
  const untilMs = Date.now() + startMsMax
  while (Date.now() < untilMs) {
    if (child.exitCode !== null) throw new Error(`vLLM ended with ${child.exitCode}; see its log`)
    const status = await fetch(`${url}/health`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`${url} did not become healthy`)
}
