// Loaded before the program: prints on SIGUSR2 which packages of OpenTelemetry the program has loaded.
const process = require('node:process');

process.on('SIGUSR2', () => {
  const names = Object.keys(require.cache).flatMap(
    (file) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(file)?.[1] ?? [],
  );
  process.stderr.write(`loaded: ${JSON.stringify([...new Set(names)].sort())}\n`);
});
