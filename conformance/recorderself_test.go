package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/internal/recording"
)

// lumen is a CLI that prints its answer.
var lumen = clichain.CliSpec{
	Name: "lumen", Binary: "lumen", Transports: []clispec.Transport{clispec.TransportStdin},
	Args: []clispec.ArgRow{{Args: []string{"chat", ""}}},
}

// recordScript returns a Provider that records a shell script, and the directory of the recording.
func recordScript(t *testing.T, script string) (p *clichain.Provider, into string) {
	t.Helper()
	dir := t.TempDir()
	h := home.Home{Name: lumen.Name, Binary: filepath.Join(dir, "script")}
	require.NoError(t, os.WriteFile(h.Binary, []byte("#!/bin/sh\n"+script), 0o700))
	into = filepath.Join(dir, "run")
	return recorded(t, lumen, h, into, clichain.Config{Timeout: minute}), into
}

func kept(t *testing.T, into, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(into, file))
	require.NoError(t, err)
	return string(content)
}

// end returns how the recorded run ended.
func end(t *testing.T, into string) recording.Run {
	t.Helper()
	run, err := recording.Read(filepath.Join(into, "end"))
	require.NoError(t, err)
	return run
}

func TestRecorderKeepsInputAndOutput(t *testing.T) {
	p, into := recordScript(t, `cat; echo " [$#] ${CLICHAIN_RECORD_INTO-hidden}"; echo "a warning" >&2`)
	resp, err := p.Complete(t.Context(), clichain.Prompt("say 中文"))
	require.NoError(t, err)
	require.Equal(t, "say 中文 [2] hidden", resp.Text, "the recorder must be transparent")
	require.JSONEq(t, `["lumen", "chat", ""]`, kept(t, into, "argv"))
	require.Equal(t, "say 中文", kept(t, into, "stdin"))
	require.Equal(t, "say 中文 [2] hidden\n", kept(t, into, "stdout"))
	require.Equal(t, "a warning\n", kept(t, into, "stderr"))
	require.Equal(t, 0, *end(t, into).ExitCode)
}

func TestRecorderPassesExitCode(t *testing.T) {
	p, into := recordScript(t, "echo no >&2; exit 3")
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	var failure *clichain.BackendError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 3, failure.ExitCode)
	require.Equal(t, 3, *end(t, into).ExitCode)
}

func TestRecorderKeepsTheFirstRun(t *testing.T) {
	p, into := recordScript(t, "cat")
	for _, prompt := range []string{"first", "second"} {
		resp, err := p.Complete(t.Context(), clichain.Prompt(prompt))
		require.NoError(t, err)
		require.Equal(t, prompt, resp.Text)
	}
	require.Equal(t, "first", kept(t, into, "stdin"))
	require.Equal(t, "first", kept(t, into, "stdout"))
}

func TestRecorderOutlivesTheSignal(t *testing.T) {
	// Both processes get the signal. The script ends after the recorder has received it.
	p, into := recordScript(t, `trap 'until [ -e "${0%/*}/run/stopped" ]; do sleep 0.01; done; echo interrupted; exit 7' INT
echo started; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := p.Complete(ctx, clichain.Prompt("hi"))
		failed <- err
	}()
	require.Eventually(t, func() bool {
		content, _ := os.ReadFile(filepath.Join(into, "stdout"))
		return string(content) == "started\n"
	}, minute, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-failed, clichain.ErrCanceled)
	require.Equal(t, "started\ninterrupted\n", kept(t, into, "stdout"))
	require.True(t, end(t, into).TimedOut)
	require.Nil(t, end(t, into).ExitCode)
}
