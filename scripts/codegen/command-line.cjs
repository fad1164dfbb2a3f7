// Generates docs/command-line.md from the help that the program itself prints.
require('./schema.cjs');
const { commandLine } = require('../../dist/cli/program.js');

let printed = '';
const nothing = () => undefined;
const program = commandLine(
  { print: (text) => (printed += `${text}\n`), printMessage: nothing },
  { handler: () => nothing, startServer: nothing },
);

function helpOf(command) {
  printed = '';
  command.outputHelp();
  // Leaves out --help, which every command has.
  return printed
    .replace(/^ +-h, --help .*\n/m, '')
    .replace(/\nOptions:\n(?=\n|$)/, '')
    .trimEnd();
}

const described = (command, path) => [
  `## ${path}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  ...command.commands.flatMap((each) => described(each, `${path} ${each.name()}`)),
];

const plugin = () => `# Command line

Made by \`npm run codegen\` from the program's own help; do not edit.

\`paygraph\` is \`bin/paygraph.mjs\`. In a checkout, \`npm run <command> -- …\` runs it with the project's Node.js and rebuilds
changed sources; \`npm start\` is \`paygraph start\`. An image needs \`bin\`, \`dist\`, \`package.json\` and the production
\`node_modules\`.

Progress and colours are printed on terminals only; \`NO_COLOR\` disables colours. A closed output (\`| head\`) does not change
the exit code. The servers \`start\` and \`sandbox\` end with 0 after a signal and with 1 if they cannot start; the other
commands use the exit codes below. \`--help\` works for every command.

${described(program, 'paygraph').join('\n')}`;

module.exports = { plugin };
