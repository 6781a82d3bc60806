package clients_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// The prompts of the orders. The fake CLI acts on the first one that its input contains.
const (
	promptSay    = "say three words"
	promptReport = "report your input"
	promptHang   = "hang after one word"
	promptBreak  = "break after one word"
	promptLimit  = "reach a limit"
)

// The figures and texts that the fake CLI prints.
const (
	threeWords   = "one two three"
	city         = `{"city":"Paris"}`
	limitMessage = "429 Too Many Requests: try again in 90s"
	inputTokens  = 12
	outputTokens = 7
)

// playCLI is the argument that makes this test binary the fake CLI.
const playCLI = "play-cli"

// report is the input of the fake CLI, as it prints it.
type report struct{ Prompt, System, Model, Effort, Image string }

// play never returns in a process that runs as the fake CLI.
func play() {
	if len(os.Args) < 2 || os.Args[1] != playCLI {
		return
	}
	var r report
	flags := flag.NewFlagSet(playCLI, flag.ExitOnError)
	list := flags.Bool("list", false, "print the models")
	schema := flags.String("schema", "", "a JSON Schema for the answer")
	system := flags.String("system", "", "a file")
	image := flags.String("image", "", "a file")
	flags.StringVar(&r.Model, "model", "large", "a model")
	flags.StringVar(&r.Effort, "effort", "", "an effort")
	_ = flags.Parse(os.Args[2:])
	if *list {
		emit(map[string]any{"models": []any{map[string]string{"id": "large"}, map[string]string{"id": "small"}}})
		os.Exit(0)
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	r.Prompt, r.System, r.Image = string(input), contents(*system), contents(*image)
	emit(map[string]any{"type": "session", "model": r.Model})
	if *schema != "" {
		reply([]string{city[:5], city[5:]})
	}
	r.act()
}

func (r report) act() {
	asked := func(prompt string) bool { return strings.Contains(r.Prompt, prompt) }
	switch {
	case asked(promptReport):
		text, _ := json.Marshal(r)
		reply([]string{string(text)})
	case asked(promptHang):
		emit(map[string]any{"type": "delta", "text": "one"})
		time.Sleep(time.Hour) // the call ends this process
	case asked(promptBreak):
		emit(map[string]any{"type": "delta", "text": "one"})
		fail(500, "Internal Server Error")
	case asked(promptLimit):
		fail(429, limitMessage)
	default:
		reply(strings.SplitAfter(threeWords, " "))
	}
}

// contents returns the content of a file, or nothing if there is none.
func contents(name string) string {
	text, err := os.ReadFile(name)
	if name != "" && err != nil {
		return err.Error()
	}
	return string(text)
}

func emit(event any) { _ = json.NewEncoder(os.Stdout).Encode(event) }

func fail(status int, message string) {
	emit(map[string]any{"type": "error", "status": status, "message": message})
	os.Exit(1)
}

// reply prints an answer in pieces.
func reply(pieces []string) {
	for piece := range slices.Values(pieces) {
		emit(map[string]any{"type": "delta", "text": piece})
	}
	emit(map[string]any{"type": "result", "text": strings.Join(pieces, ""), "input": inputTokens, "output": outputTokens})
	os.Exit(0)
}
