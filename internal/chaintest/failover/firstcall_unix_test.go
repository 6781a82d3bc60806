//go:build unix

package failover_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// BenchmarkFirstCall measures what a chain of five pays once, when the first one answers: the first call of a new
// chain beside a later call of the same.
func BenchmarkFirstCall(b *testing.B) {
	for _, variable := range chaintest.Suppressors {
		b.Setenv(variable, "")
	}
	list := specs.All()
	fake := clitest.Scenario{Steps: []clitest.Step{{ReadStdin: true}, {Stdout: chaintest.ResultLine("42") + "\n"}}}
	path, err := clitest.Install(b.TempDir(), list[0].Binary, fake)
	require.NoError(b, err)
	b.Setenv("HOME", b.TempDir())
	b.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	b.Setenv("ANTHROPIC_API_KEY", "none")
	call := func(c *clichain.Chain) {
		resp, err := c.Complete(context.Background(), clichain.Prompt("What is the answer?"))
		if err != nil || resp.Text != "42" {
			b.Fatal(err)
		}
	}
	old := clichain.NewChain(list, nil)
	call(old) // start the processes that remain after the first call
	for name, chain := range map[string]func() *clichain.Chain{
		"new":   func() *clichain.Chain { return clichain.NewChain(list, nil) },
		"later": func() *clichain.Chain { return old },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := usedCPU(b)
			for b.Loop() {
				call(chain())
			}
			b.ReportMetric(float64(usedCPU(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// usedCPU returns the CPU time of this process, without its children.
func usedCPU(b *testing.B) time.Duration {
	var used unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
