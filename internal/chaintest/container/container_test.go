package container_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/chaintest"
)

func TestContainerMistakes(t *testing.T) {
	tests := map[string]struct {
		c      clichain.Container
		option string
	}{
		"neither":           {clichain.Container{}, "container"},
		"both":              {clichain.Container{Name: "a", Image: "b"}, "container"},
		"name is a flag":    {clichain.Container{Name: "--privileged"}, "container.name"},
		"NUL":               {clichain.Container{Name: "a\x00b"}, "container.name"},
		"image is a flag":   {clichain.Container{Image: "-v/:/host"}, "container.image"},
		"runtime is a flag": {clichain.Container{Runtime: "-x", Name: "a"}, "container.runtime"},
		"relative runtime":  {clichain.Container{Runtime: "./docker", Name: "a"}, "container.runtime"},
		"terminal":          {clichain.Container{Name: "a", RunArgs: []string{"--user=1", "-it"}}, "container.run_args[1]"},
		"detached":          {clichain.Container{Image: "a", RunArgs: []string{"--detach=true"}}, "container.run_args[0]"},
		"another name":      {clichain.Container{Image: "a", RunArgs: []string{"--name", "b"}}, "container.run_args[0]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			p := clichain.NewProvider(boxSpec(), &clichain.Config{Container: &test.c})
			require.Equal(t, test.option, chaintest.RequireReason(t, clichain.ReasonBadOption, p.Available(t.Context())).Option)
		})
	}
	c := &clichain.Container{Name: "a"}
	t.Setenv("PATH", t.TempDir())
	p := clichain.NewProvider(boxSpec(), &clichain.Config{Container: c})
	c.Name = "" // an existing container is not changed
	be := chaintest.RequireReason(t, clichain.ReasonNotInstalled, p.Available(t.Context()))
	require.Contains(t, be.Message, "docker")
	require.Contains(t, be.Hint, "docker")

	podman := clitest.Fake(t, "podman", chaintest.Play(clitest.Exit(1)))
	p = clichain.NewProvider(boxSpec(), &clichain.Config{Container: &clichain.Container{Runtime: podman, Name: "a"}})
	require.NoError(t, p.Available(t.Context()))
	_, err := p.Complete(t.Context(), clichain.Request{Messages: clichain.Prompt("hi").Messages, Access: clichain.AccessRead, Dir: "work"})
	require.Equal(t, "dir", chaintest.RequireReason(t, clichain.ReasonBadOption, err).Option)
}

// If a call was not started, nothing is ended.
func TestContainerNotStarted(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record.json")
	docker := clitest.Fake(t, "docker", chaintest.Play(clitest.Step{Record: record}))
	p := clichain.NewProvider(boxSpec(), &clichain.Config{Container: &clichain.Container{Runtime: docker, Name: "a"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Complete(ctx, clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonCanceled, err)
	require.NoFileExists(t, record)
}

// waitForRecord waits until a fake has reached its Record step.
func waitForRecord(t *testing.T, path string) (r fake.Record) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		var err error
		r, err = clitest.ReadRecord(path)
		return err == nil
	}, time.Minute, time.Millisecond)
	return r
}

// boxSpec uses everything that differs in a container: files, an empty directory, a variable that clients read too,
// and another name.
func boxSpec() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "boxed", Binary: "boxed", AltBinaries: []string{"box'd"},
		GuardFiles: []string{".boxed/it's"}, FolderFiles: []string{"./.boxed", "boxed.json"},
		Transports: []clispec.Transport{clispec.TransportStdin},
		Files:      []clispec.FileRow{{Field: "system", Name: "system.md", Content: "{system}", When: clispec.When{Set: []string{"system"}}}},
		Args: []clispec.ArgRow{
			{Args: []string{"--system", "{system_file}"}, When: clispec.When{Set: []string{"system"}}},
			{Args: []string{"--effort={effort}"}, When: clispec.When{Set: []string{"effort"}}},
			{Args: []string{"--tools"}, When: clispec.When{Access: []call.Access{call.AccessRead}}},
		},
		Env:     []clispec.EnvRow{{Name: "TMPDIR", Value: "{temp}", When: clispec.When{Set: []string{"system"}}}},
		PassEnv: []string{"BOXED_*"}, DropEnv: []string{"BOXED_MARK"},
		Preflight: []clispec.PreflightRule{{Root: true, Reason: call.ReasonPermissionRefused, Message: "not as root"}},
	}
}

func withSystem() clichain.Request {
	return clichain.Request{Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "secret-system"}, {Role: clichain.RoleUser, Content: "secret-prompt"}}}
}
