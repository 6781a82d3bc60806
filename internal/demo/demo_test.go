package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
)

func TestMain(m *testing.M) {
	fake.Main()
	os.Exit(fake.Run(m))
}

// private restores the environment variables that a demo changes, and returns the directory of its files.
func private(t *testing.T) (temp string) {
	t.Helper()
	temp = t.TempDir()
	for name, value := range map[string]string{"XDG_STATE_HOME": "", "SKIP_CLI": "1", "TMPDIR": temp} {
		t.Setenv(name, value)
	}
	return temp
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDemo(t *testing.T) {
	fake.NoLeaks(t)
	temp := private(t)
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), Screen{Out: &out}))
	for _, pattern := range []string{
		`SKIP_CLI is set`,
		`claude +█.* m?s  ✗ unauthenticated\n`, `gemini +█.* m?s  ✗ usage_limit\n`, `available again at \d\d:\d\d, in 3 h 12 min\n`,
		`cursor-agent +– not_installed\n`, `opencode +█.* m?s  ✗ timeout\n`, `codex +█.*  ✓ answered\n`,
		`Air scatters blue light`, `codex answered after .*, 12 tokens in, 37 out, 4 others tried or skipped\n`, `clichain doctor`,
	} {
		require.Regexp(t, pattern, out.String())
	}
	require.NotContains(t, out.String(), "\x1b")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len([]rune(line)), 81, line)
	}
	requireEmpty(t, temp)
}

// On a terminal the line of the running attempt changes, and the result replaces it.
func TestDemoOnTerminal(t *testing.T) {
	private(t)
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), Screen{Out: &out, Width: 60, Live: true, Color: true}))
	require.Regexp(t, `\r  claude  .*asking.*\x1b\[K\r  claude `, out.String())
	require.Contains(t, out.String(), "\x1b[32m✓ answered\x1b[0m")
	escapes := regexp.MustCompile(`\x1b\[[0-9;]*[mK]`)
	for line := range strings.Lines(out.String()) {
		for _, drawn := range strings.Split(escapes.ReplaceAllString(line, ""), "\r") {
			require.LessOrEqual(t, len([]rune(drawn)), 61, drawn)
		}
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestDemoFails(t *testing.T) {
	temp := private(t)
	wrong := errors.New("disk full")
	require.ErrorIs(t, Run(t.Context(), Screen{Out: broken{wrong}}), wrong)
	requireEmpty(t, temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Run(ctx, Screen{Out: &bytes.Buffer{}}), context.Canceled)
	requireEmpty(t, temp)
}

func TestBar(t *testing.T) {
	require.Equal(t, "", Bar(0, time.Second, 10))
	require.Equal(t, "▏", Bar(time.Millisecond, time.Second, 10))
	require.Equal(t, "█████", Bar(500*time.Millisecond, time.Second, 10))
	require.Equal(t, "█████▌", Bar(550*time.Millisecond, time.Second, 10))
	require.Equal(t, "██████████", Bar(2*time.Second, time.Second, 10))
}
