package request

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// maxPrompt limits the bytes of stdin. It is far above the context of any model.
const maxPrompt = 64 << 20

// StdinNotice is the time without an end of stdin after which a note on stderr says that the command waits for it. Many
// programs start others with a stdin that they never close.
const StdinNotice = 3 * time.Second

// PromptSource is the source of the prompt.
type PromptSource struct {
	texts []string  // of the command line and of --prompt-file
	stdin io.Reader // nil when stdin is not part of the prompt
	note  io.Writer
	limit time.Duration // for stdin; 0: none
	by    string        // the flag that sets it
}

// NewPromptSource decides which parts the prompt has. It does not read stdin.
func NewPromptSource(env *console.Env, f *param.Values, args []string) (*PromptSource, error) {
	s := &PromptSource{note: env.Err}
	s.bound("--timeout", f.Config.Timeout)
	s.bound("--budget", f.Budget)
	file, err := readFlagFile("--prompt-file", f.PromptFile)
	if err != nil {
		return nil, err
	}
	dash := len(args) > 0 && args[0] == "-"
	switch {
	case dash && f.NoStdin:
		return nil, console.Usagef("-: cannot read stdin with --no-stdin: use only one of them")
	case len(args) > 0 && strings.TrimSpace(args[0]) == "":
		return nil, console.Usagef("the prompt is empty")
	case len(args) > 0 && !dash:
		s.texts = append(s.texts, args[0])
	}
	if len(file) > 0 {
		s.texts = append(s.texts, string(file))
	}
	if dash || !f.NoStdin && !terminal.Is(env.In) {
		s.stdin = env.In
	}
	if len(s.texts) == 0 && s.stdin == nil {
		return nil, console.Usagef("no prompt: give it as an argument, with --prompt-file, or on stdin")
	}
	return s, nil
}

// bound keeps the shortest of the limits.
func (s *PromptSource) bound(flag string, limit time.Duration) {
	if limit > 0 && (s.limit == 0 || limit < s.limit) {
		s.limit, s.by = limit, flag
	}
}

// Read reads the whole prompt.
func (s *PromptSource) Read(ctx context.Context) (string, error) {
	texts := s.texts
	if s.stdin != nil {
		data, err := s.readStdin(ctx)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(data) != "" {
			texts = append(texts, data)
		}
	}
	if len(texts) == 0 {
		return "", console.Usagef("the prompt on stdin is empty")
	}
	return strings.Join(texts, "\n\n"), nil
}

// readStdin reads to the end or until the time limit. The read itself cannot be interrupted; the process exits instead.
func (s *PromptSource) readStdin(ctx context.Context) (string, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(s.stdin, maxPrompt+1))
		done <- result{data, err}
	}()
	notice := time.NewTimer(StdinNotice)
	defer notice.Stop()
	var over <-chan time.Time // never, without a limit
	if s.limit > 0 {
		limit := time.NewTimer(s.limit)
		defer limit.Stop()
		over = limit.C
	}
	for {
		select {
		case r := <-done:
			return checkStdin(r.data, r.err)
		case <-ctx.Done():
			return "", console.Fail(console.ExitInterrupted, context.Cause(ctx))
		case <-over:
			return "", console.Fail(console.ExitTimeout, fmt.Errorf(
				"stdin has not ended within %v: a longer %s gives it more time, --no-stdin does not read it", s.limit, s.by))
		case <-notice.C:
			fmt.Fprintln(s.note, "clichain: waiting for the end of stdin (use --no-stdin if nothing is sent)")
		}
	}
}

func checkStdin(data []byte, err error) (string, error) {
	switch {
	case err != nil:
		return "", console.Usagef("cannot read stdin: %v", err)
	case len(data) > maxPrompt:
		return "", console.Usagef("stdin is over %d MiB", maxPrompt>>20)
	}
	return string(data), nil
}
