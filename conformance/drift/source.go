package drift

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Source says where the names of a CLI appear, besides its help.
type Source struct {
	// Files are path patterns of the program's files, below the directory that npm installed it into. If it is empty,
	// the files cannot be searched, and a name that is not listed may exist.
	Files []string
	// Events finds the names of events in the files, in its first group. Nil: no file lists them.
	Events *regexp.Regexp
	// Schema is the command that writes the JSON Schemas of its messages to the directory {dir}. Empty: the CLI has
	// none.
	Schema []string
}

// Sources are the sources of the CLIs that the suite can run, by name.
var Sources = map[string]Source{
	"claude": {
		Files:  []string{"@anthropic-ai/claude-code/bin/claude.exe"},
		Events: regexp.MustCompile(`type:"system",subtype:"(\w+)"`),
	},
	"gemini": {
		Files:  []string{"@google/gemini-cli/bundle/*.js"},
		Events: regexp.MustCompile(`JsonStreamEventType\d*\["\w+"\] = "(\w+)"`),
	},
	"opencode": {
		Files:  []string{"opencode-ai/bin/opencode.exe"},
		Events: regexp.MustCompile(`\("([a-z_]+)",\{(?:part|error):`),
	},
	"codex": {
		Files:  []string{"@openai/codex-*/vendor/*/bin/codex"},
		Schema: []string{"app-server", "generate-json-schema", "--out", "{dir}"},
	},
	"copilot": {}, // the program is packed
	"kimi":    {Files: []string{"@moonshot-ai/kimi-code/dist/*.mjs"}},
	"pi": {Files: []string{
		"@earendil-works/pi-coding-agent/dist/bundle/*.js", "@earendil-works/pi-coding-agent/dist/bundle/*/*.js",
	}},
	"kilo":  {Files: []string{"@kilocode/cli-*/bin/kilo"}},
	"cline": {Files: []string{"@cline/cli-linux-x64/bin/cline"}},
	"qwen":  {Files: []string{"@qwen-code/qwen-code/*.js", "@qwen-code/qwen-code/chunks/*.js"}},
}

// CLI is a version of a CLI that can be inspected.
type CLI struct {
	Source
	Paths []string // of Source.Files
	// Run starts the program and returns its output. A help text may come with any exit code, on either stream.
	Run func(ctx context.Context, args ...string) (output string, err error)
}

// Look lists the names that the CLI shows, and reports which names that a spec needs are in its files. It starts the
// program once for the help of each command that the spec uses, and once for its schema.
func Look(ctx context.Context, cli CLI, needs Needs) (now Surface, in func(name string) bool, err error) {
	now.Flags = map[string][]string{}
	var names []string
	for command, flags := range needs.Flags {
		help, err := cli.Run(ctx, append(strings.Fields(command), "--help")...)
		if err != nil {
			return now, nil, fmt.Errorf("the help of %q: %w", command, err)
		}
		if now.Flags[command] = FlagsOf(help); len(now.Flags[command]) == 0 {
			return now, nil, fmt.Errorf("the help of %q defines no flag: %.200q", command, help)
		}
		names = append(names, flags...)
	}
	found, events, err := Search(cli.Paths, sorted(names, needs.Events, needs.Variables), cli.Events)
	if err != nil {
		return now, nil, err
	}
	methods, err := cli.methods(ctx)
	if err != nil {
		return now, nil, fmt.Errorf("the schema: %w", err)
	}
	now.Events = sorted(events, methods)
	return now, func(name string) bool { return found[name] || len(cli.Files) == 0 }, nil
}

// methods returns the methods in the schema that the CLI writes.
func (c CLI) methods(ctx context.Context) (all []string, err error) {
	if len(c.Schema) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "clichain-schema-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := make([]string, len(c.Schema))
	for i, arg := range c.Schema {
		args[i] = strings.ReplaceAll(arg, "{dir}", dir)
	}
	if output, err := c.Run(ctx, args...); err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, output)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json")) // only a malformed pattern fails
	if len(files) == 0 {
		return nil, errors.New("it wrote no file")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		methods, err := MethodsOf(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		all = append(all, methods...)
	}
	return sorted(all), nil
}
