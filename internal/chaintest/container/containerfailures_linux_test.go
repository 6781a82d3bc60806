package container_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// The provider reads the output that the CLI writes after it was asked to end.
func TestLastWordsFromInside(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	started := filepath.Join(t.TempDir(), "started")
	script := "#!/bin/sh\n" +
		`trap 'echo "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"half\"}}"; exit 0' TERM` + "\n" +
		`echo {} >` + started + "\nwhile :; do sleep 0.01; done\n"
	require.NoError(t, os.WriteFile(filepath.Join(e.cliDir, "codex"), []byte(script), 0o755))
	clitest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	var call sync.WaitGroup
	var err error
	call.Go(func() {
		_, err = boxedCodex(client, "codex", clichain.Container{Name: "dev"}, clichain.Config{Timeout: -1}).Complete(ctx, clichain.Prompt("hi"))
	})
	waitForRecord(t, started)
	cancel()
	call.Wait()
	be := chaintest.RequireReason(t, clichain.ReasonCanceled, err)
	require.Equal(t, "half", be.Partial)
}

func TestContainerFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		c      clichain.Container
		steps  []clitest.Step
		binary string
		reason clichain.Reason
		says   string
	}{
		"no container":     {clichain.Container{Name: "gone"}, nil, "", clichain.ReasonSpawn, "No such container: gone"},
		"no program":       {clichain.Container{Name: "dev"}, nil, "codex-of-tomorrow", clichain.ReasonNotInstalled, `no program "codex-of-tomorrow" in the container`},
		"killed inside":    {clichain.Container{Name: "dev"}, []clitest.Step{{Kill: "KILL"}}, "", clichain.ReasonKilled, "SIGKILL inside"},
		"its own words":    {clichain.Container{Name: "dev"}, []clitest.Step{{Stderr: "Error: Not logged in\n"}, clitest.Exit(1)}, "", clichain.ReasonUnauthenticated, "Not logged in"},
		"its own status":   {clichain.Container{Image: "i"}, []clitest.Step{clitest.Exit(3)}, "", clichain.ReasonExit, "exit status 3"},
		"container killed": {clichain.Container{Name: "dev"}, []clitest.Step{{Hang: true}}, "", clichain.ReasonKilled, "SIGKILL inside"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, client := newEngine(t, "docker")
			started := filepath.Join(t.TempDir(), "started")
			cli := fakeCodex(t, append([]clitest.Step{{Record: started}}, test.steps...)...)
			var killer sync.WaitGroup
			if name == "container killed" {
				killer.Go(func() { waitForRecord(t, started); e.remove("dev") })
			}
			_, err := boxedCodex(client, cmp.Or(test.binary, cli), test.c, clichain.Config{}).Complete(t.Context(), clichain.Prompt("hi"))
			killer.Wait()
			require.ErrorContains(t, err, test.says)
			be := chaintest.RequireReason(t, test.reason, err)
			require.NotContains(t, be.Error(), "left in the container")
		})
	}
}
