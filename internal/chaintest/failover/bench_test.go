package failover_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// onlyLast sets a PATH of several directories in which only the last built-in spec is installed. No backend is logged
// in.
func onlyLast(b testing.TB) {
	for _, variable := range chaintest.Suppressors {
		b.Setenv(variable, "")
	}
	dirs := make([]string, 8)
	for i := range dirs {
		dirs[i] = b.TempDir()
	}
	all := specs.All()
	require.NoError(b, os.WriteFile(filepath.Join(dirs[len(dirs)-1], all[len(all)-1].Binary), []byte("#!/bin/sh\n"), 0o755))
	b.Setenv("PATH", strings.Join(dirs, string(os.PathListSeparator)))
	b.Setenv("HOME", b.TempDir())
	b.Setenv("CODEX_HOME", b.TempDir())
}

// logLastIn logs in to the last of the built-in specs.
func logLastIn(b testing.TB) {
	file := filepath.Join(os.Getenv("CODEX_HOME"), "auth.json")
	require.NoError(b, os.WriteFile(file, []byte(`{"OPENAI_API_KEY":"key-of-a-benchmark"}`), 0o600))
}

func providersOfAll() (all []*clichain.Provider) {
	for _, spec := range specs.All() {
		all = append(all, clichain.NewProvider(spec, nil))
	}
	return all
}

// choose is the work of a chain before it starts a process.
func choose(b testing.TB, providers []*clichain.Provider) {
	for _, p := range providers {
		if p.Available(context.Background()) == nil {
			return
		}
	}
	b.Fatal("none is available")
}

// BenchmarkChoose finds the one installed CLI of five: cold without any cache, and warm as in every later call.
func BenchmarkChoose(b *testing.B) {
	onlyLast(b)
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			providers := providersOfAll()
			b.StartTimer()
			choose(b, providers)
		}
	})
	b.Run("new", func(b *testing.B) { // cold, with the specs compiled too
		b.ReportAllocs()
		for b.Loop() {
			choose(b, providersOfAll())
		}
	})
	b.Run("logged out", chooseAgain) // the programs are cached; the login is checked each time
	b.Run("warm", func(b *testing.B) {
		logLastIn(b)
		chooseAgain(b)
	})
}

// A choice uses recent results about programs, logins and environment variables.
func TestChoiceIsRemembered(t *testing.T) {
	onlyLast(t)
	logLastIn(t)
	providers := providersOfAll()
	choose(t, providers)
	allocations := testing.AllocsPerRun(100, func() { choose(t, providers) })
	require.LessOrEqual(t, allocations, 20.0)
}

func chooseAgain(b *testing.B) {
	providers := providersOfAll()
	choose(b, providers)
	b.ReportAllocs()
	for b.Loop() {
		choose(b, providers)
	}
}

// BenchmarkCallOverhead runs the same child alternately through a Provider and directly, so that the load of the
// machine affects both equally.
func BenchmarkCallOverhead(b *testing.B) {
	for _, variable := range chaintest.Suppressors {
		b.Setenv(variable, "")
	}
	dir := b.TempDir()
	path, err := clitest.Install(dir, "fake", clitest.Scenario{Steps: []clitest.Step{{ReadStdin: true}, {Stdout: chaintest.ResultLine("42") + "\n"}}})
	require.NoError(b, err)
	spec := clichain.CliSpec{
		Name: "fake", Binary: path, Transports: []clispec.Transport{clispec.TransportStdin}, Outputs: []clispec.OutputMode{clispec.OutputStream},
		Args:   []clispec.ArgRow{{Args: []string{"-p"}}},
		Events: []clispec.EventRule{{Match: map[string]string{"type": "result"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "result"}}},
	}
	provider := clichain.NewProvider(spec, nil)
	bare := func() {
		cmd := exec.Command(path, "-p")
		cmd.Stdin = strings.NewReader("What is the answer?")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || !strings.Contains(stdout.String(), "42") {
			b.Fatal(err, stdout.String(), stderr.String())
		}
	}
	call := func() {
		resp, err := provider.Complete(context.Background(), clichain.Prompt("What is the answer?"))
		if err != nil || resp.Text != "42" {
			b.Fatal(err)
		}
	}
	call() // start the processes that remain after the first call
	bare()
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			bare()
		}
	})
	b.Run("provider", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call()
		}
	})
	b.Run("difference", func(b *testing.B) {
		var ours, theirs time.Duration
		for b.Loop() {
			start := time.Now()
			bare()
			middle := time.Now()
			call()
			ours, theirs = ours+time.Since(middle), theirs+middle.Sub(start)
		}
		b.ReportMetric(float64(ours-theirs)/float64(b.N), "overhead-ns/op")
		b.ReportMetric(float64(theirs)/float64(b.N), "bare-ns/op")
	})
}
