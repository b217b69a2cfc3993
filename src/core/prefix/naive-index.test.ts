import { NaiveIndex } from './naive-index.ts'
import { prefixIndexConformance } from './prefix-index.conformance.ts'

prefixIndexConformance('naive', () => new NaiveIndex())
