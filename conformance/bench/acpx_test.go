package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// byAcpx asks with acpx and the adapter for claude. It uses exec, or a session for warm calls.
func byAcpx(t *testing.T, pkg string, s target) func(job) outcome {
	t.Helper()
	modules, node := home.Peer(t, pkg)
	program := func(name string) string {
		path, err := filepath.EvalSymlinks(filepath.Join(modules, ".bin", name))
		require.NoError(t, err)
		return path
	}
	acpx := []string{program("acpx"), "--agent", node + " " + program("claude-agent-acp"), "--format", "quiet"}
	env := append(slices.Clone(s.Env), "CLAUDE_CODE_EXECUTABLE="+s.Binary)
	return func(j job) outcome {
		if j.Full {
			require.NoError(t, s.bypass())
		}
		var most int64
		command := func(first func(), words ...string) (string, error) {
			args := slices.Clone(acpx)
			if j.Full {
				args = append(args, "--approve-all")
			}
			if j.Timeout > 0 {
				args = append(args, "--timeout", fmt.Sprint(j.Timeout.Seconds()))
			}
			if j.Lean {
				args = append(args, "--allowed-tools", "")
			}
			ctx, cancel := context.WithTimeout(context.Background(), bound)
			defer cancel()
			var out, stderr strings.Builder
			cmd := exec.CommandContext(ctx, node, append(args, words...)...)
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Work, env, writer{&out, first}, &stderr
			bytes, err := j.run(cmd)
			most = max(most, bytes)
			if err != nil {
				err = fmt.Errorf("%w: %s", err, stderr.String())
			}
			return strings.TrimSpace(out.String()), err
		}
		began, none := time.Now(), func() {}
		ask := "exec"
		if j.Warm {
			_, err := command(none, "sessions", "new")
			require.NoError(t, err)
			ask = "prompt"
		}
		o := j.each(func(prompt string, first func()) (string, error) { return command(first, ask, prompt) })
		if j.Warm {
			_, err := command(none, "sessions", "close")
			require.NoError(t, err)
		}
		o.Peak, o.Took = most, ms(time.Since(began))
		return o
	}
}

// bypass allows claude all tools by its own settings. The adapter has no option for it, and acpx approves only the
// questions that claude asks, none in its default mode.
func (s target) bypass() error {
	i := slices.IndexFunc(s.Env, func(pair string) bool { return strings.HasPrefix(pair, "HOME=") })
	file := filepath.Join(strings.TrimPrefix(s.Env[i], "HOME="), ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	const settings = `{"permissions":{"defaultMode":"bypassPermissions"},"skipDangerousModePermissionPrompt":true}`
	return os.WriteFile(file, []byte(settings), 0o600)
}

// writer calls first at each write.
type writer struct {
	*strings.Builder
	first func()
}

func (w writer) Write(p []byte) (int, error) {
	w.first()
	return w.Builder.Write(p)
}
