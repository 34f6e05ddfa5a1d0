import type { Command } from 'commander'
import type { Tool } from './tool.js'

/** A command, loaded when its name is typed. */
export interface CommandFile {
  /** A command line for the help. */
  example: string
  /** Declares arguments, options and action. The action opens the tool. */
  define(command: Command, open: () => Tool): void
}

/** `<id>`, `[url]` or `[field...]`, and a text for the help. */
export type ArgumentLine = readonly [name: string, text: string]

/** `-f, --file <file>`, a text for the help, and how its value is read. */
export type OptionLine = readonly [flags: string, text: string, more?: OptionValue]

/** `initial`: the value without the option. `parse` reads each value that is given, with the result for the one before. */
interface OptionValue {
  required?: true
  initial?: string
  parse?(value: string, former: string[] | undefined): string[]
}

interface CommandInput<Arguments extends readonly ArgumentLine[], Options extends readonly OptionLine[]> {
  example: string
  arguments?: Arguments
  options?: Options
  /** Returns for exit code 0, and throws a `ToolError` for any other. */
  run(tool: Tool, ...given: Given<Arguments, Options>): Promise<void> | void
}

/** The types of what `run` gets come from the lines of arguments and options. */
export function defineCommand<
  const Arguments extends readonly ArgumentLine[] = [],
  const Options extends readonly OptionLine[] = [],
>(input: CommandInput<Arguments, Options>): CommandFile {
  const { example, arguments: names = [], options = [], run } = input
  return {
    example,
    define(command, open) {
      for (const [name, text] of names) command.argument(name, text)
      for (const line of options) declareOption(command, line)
      command.action((...given: Given<Arguments, Options>) => run(open(), ...given))
    },
  }
}

function declareOption(command: Command, [flags, text, { required, initial, parse } = {}]: OptionLine): void {
  if (required) command.requiredOption(flags, text)
  else if (parse) command.option(flags, text, parse)
  else command.option(flags, text, initial)
}

type Given<Arguments extends readonly ArgumentLine[], Options extends readonly OptionLine[]> = [
  ...{ [At in keyof Arguments]: ArgumentValue<Arguments[At][0]> },
  OptionsOf<Options>,
]

type ArgumentValue<Name extends string> = Name extends `${string}...${string}`
  ? readonly string[]
  : Name extends `<${string}`
    ? string
    : string | undefined

/** The options as commander gives them: `{ file: string, dryRun?: boolean }`. */
export type OptionsOf<Options extends readonly OptionLine[]> = {
  [Line in Sometimes<Options[number]> as OptionName<Line[0]>]?: OptionGiven<Line>
} & {
  [Line in Options[number] as Exclude<
    OptionName<Line[0]>,
    OptionName<Sometimes<Options[number]>[0]>
  >]: OptionGiven<Line>
}

/** An option without a value of its own where it is not given. */
type Sometimes<Line extends OptionLine> = Line extends readonly [`--no-${string}`, ...unknown[]]
  ? never
  : Line extends readonly [string, string, { required: true } | { initial: string }]
    ? never
    : Line

type OptionName<Flags extends string> = Flags extends `${string}--no-${infer Name}`
  ? CamelCase<FirstWord<Name>>
  : Flags extends `${string}--${infer Name}`
    ? CamelCase<FirstWord<Name>>
    : never

type FirstWord<Text extends string> = Text extends `${infer First} ${string}` ? First : Text

type CamelCase<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Text

type OptionGiven<Line extends OptionLine> = Line extends readonly [string, string, { parse: unknown }]
  ? string[]
  : Line[0] extends `${string}<${string}`
    ? string
    : Line[0] extends `${string}[${string}`
      ? string | true
      : boolean

/** For an option that may be repeated. */
export function repeated(value: string, former: readonly string[] = []): string[] {
  return [...former, value]
}

/** For an option that may be repeated, or take several values with commas between. */
export function separated(value: string, former: readonly string[] = []): string[] {
  return [...former, ...value.split(',').map((each) => each.trim())].filter((each) => each !== '')
}
