/**
 * Every way in which the router goes on with less than it should have. Each is a counter
 * (`warmpath_fallbacks_total{kind}`), so that nothing degrades in silence.
 */
export const fallbackCatalogue = {
  'metrics-missing':
    'An endpoint has no metrics page. Its load is known from the router’s own ledger only.',
  'metrics-unreadable':
    'A metrics page came, but no load could be read from it: another engine, or renamed metrics.',
  'metrics-partial':
    'A metrics page lacks some of the load that its engine should report. What is missing counts ' +
    'as unknown.',
  'health-path-missing':
    'An endpoint has no /health. Another path is asked for instead, which may say less.',
  'models-unknown':
    'An endpoint does not list its models. It is taken to serve every model asked for.',
  'engine-unknown': 'The engine was not recognised. Only what all engines share is used.',
  'restart-unseen':
    'The engine does not report when its process started. A restart is seen only when a probe ' +
    'is refused or a counter goes backwards.',
  'cached-tokens-unreported':
    'An answer did not say how many prompt tokens were cached, so a prediction went unchecked.',
  'usage-unreported': 'An answer did not report its tokens. They were estimated.',
  'body-not-understood':
    'A request was forwarded without its prompt being read, so nothing of it can match a cache.',
  'answer-not-understood':
    'An answer was passed on without being read along, so the next turn matches only its prompt.',
  'last-resort':
    'Every endpoint of a model was softly unavailable. The least bad one was used all the same.',
  'cache-emptied':
    'An endpoint repeatedly held nothing of what it was believed to hold. The belief was dropped.',
  'prediction-distrusted':
    'The first tokens of an endpoint came far from when they were predicted. It is taken to be ' +
    'no faster than its peers until they fit again.',
  'rates-dropped':
    'Outcomes kept contradicting what was learned of an endpoint’s speed. It is learned anew.',
  'linger-expired':
    'Abandoned work came off the ledger by its time limit, without a sign from the engine.',
  'core-rebuilt':
    'The router found its own state wrong and began anew with what it knows of the fleet.',
  'label-folded': 'A metric label value beyond the bound was counted as `other`.',
} as const satisfies Record<string, string>

export type FallbackKind = keyof typeof fallbackCatalogue
