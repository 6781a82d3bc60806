package bench_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/clichain/clichain/conformance/home"
)

// arguments are the arguments that a user writes before the prompt.
type arguments struct{ plain, stream, full, lean []string }

var argumentsOf = map[string]arguments{
	home.Claude: {
		plain:  []string{"-p"},
		stream: []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"},
		full:   []string{"-p", "--dangerously-skip-permissions"},
		lean:   []string{"-p", "--tools", "", "--setting-sources", "user", "--strict-mcp-config"},
	},
	home.Codex: {
		plain:  []string{"exec", "--skip-git-repo-check"},
		stream: []string{"exec", "--skip-git-repo-check", "--json"},
		full:   []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
	},
}

// of returns the arguments before the prompt of a job.
func (a arguments) of(j job) []string {
	args := a.plain
	switch {
	case j.Full:
		args = a.full
	case j.Lean:
		args = a.lean
	case j.Stream:
		args = a.stream
	}
	return append(slices.Clone(args), "--")
}

// byExec calls the CLI as a program that uses os/exec does.
func byExec(s target, j job) outcome {
	return j.each(func(prompt string, first func()) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(j.Timeout+j.Patience, bound))
		defer cancel()
		text, err := run(ctx, s, j, prompt, first)
		if err != nil && j.Fallback != nil {
			return run(context.Background(), *j.Fallback, job{}, prompt, first)
		}
		return text, err
	})
}

func run(ctx context.Context, s target, j job, prompt string, first func()) (string, error) {
	cmd := exec.CommandContext(ctx, s.Binary, append(argumentsOf[s.CLI].of(j), prompt)...)
	cmd.Dir, cmd.Env = s.Work, s.Env
	if !j.Stream {
		out, err := cmd.Output()
		return string(bytes.TrimSpace(out)), err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	text := readLines(out, first)
	return text, cmd.Wait()
}

// line holds the fields of a CLI's output line that a user reads.
type line struct {
	Type   string
	Event  struct{ Delta struct{ Text string } }
	Result string
	Item   struct{ Text string }
}

func readLines(out io.Reader, first func()) (text string) {
	lines := bufio.NewReader(out)
	for {
		data, err := lines.ReadBytes('\n')
		var l line
		if json.Unmarshal(data, &l) == nil {
			if l.Event.Delta.Text+l.Item.Text+l.Result != "" {
				first()
			}
			text += l.Result + l.Item.Text
		}
		if err != nil {
			return strings.TrimSpace(text)
		}
	}
}

// exitText returns the error, and the last 300 bytes of stderr if the program failed.
func exitText(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return err.Error() + ": " + string(exit.Stderr[max(0, len(exit.Stderr)-300):])
	}
	return err.Error()
}
