package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

func lumen(t *testing.T) clichain.CliSpec {
	t.Helper()
	list, err := specs.Load(bytes.NewReader(file))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func TestLumen(t *testing.T) { clitest.TestSpec(t, lumen(t)) }

func TestAsks(t *testing.T) {
	for name, test := range map[string]struct {
		lumen  clitest.Scenario
		stderr string
	}{
		"lumen":          {clitest.Answer(lumen(t), "Hang a picture."), "answered by lumen\n"},
		"at its limit":   {clitest.LimitUntil(lumen(t), time.Now().Add(2*time.Hour)), "answered by claude\n"},
		"not logged in":  {clitest.LoggedOut(lumen(t)), "answered by claude\n"},
		"cut short":      {clitest.Truncated(lumen(t), "Hang a"), "answered by claude\n"},
		"exits with 0":   {clitest.ExitZeroWithError(lumen(t), "something broke"), "answered by claude\n"},
		"prints garbage": {clitest.Garbage(), "answered by claude\n"},
	} {
		t.Run(name, func(t *testing.T) {
			defer machine.New(map[string]clitest.Scenario{
				"lumen": test.lumen, "claude": clitest.Answer(specs.Claude(), "Hang a picture."),
			})()
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), []string{"Name a use", "of a paper clip."}, &stdout, &stderr)
			require.Zero(t, status, stderr.String())
			require.Equal(t, "Hang a picture.\n", stdout.String())
			require.Equal(t, test.stderr, stderr.String())
		})
	}
}

func TestFails(t *testing.T) {
	defer machine.New(nil)()
	var stdout, stderr bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"hi"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "lumen")
	require.Contains(t, stderr.String(), "not_installed")
	require.Equal(t, 2, run(t.Context(), nil, &stdout, &stderr))
	require.Contains(t, stderr.String(), "usage: owncli QUESTION")
	require.Empty(t, stdout.String())
}
