package failover_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chaintest"
)

const (
	manyCalls = 200
	atOnce    = 16
)

// BenchmarkManyCalls runs 200 calls of a program that does nothing, 16 at a time or in sequence, alternately through a
// Provider and os/exec. It runs alone on the machine and beside 1000 idle processes.
func BenchmarkManyCalls(b *testing.B) {
	for _, variable := range chaintest.Suppressors {
		b.Setenv(variable, "")
	}
	provider := clichain.NewProvider(clichain.CliSpec{
		Name: "echo", Binary: "/bin/echo",
		Transports: []clispec.Transport{clispec.TransportStdin}, Outputs: []clispec.OutputMode{clispec.OutputText},
		Args: []clispec.ArgRow{{Args: []string{"42"}}},
	}, nil)
	call := func() error {
		resp, err := provider.Complete(context.Background(), clichain.Prompt("What is the answer?"))
		if err == nil && resp.Text != "42" {
			err = fmt.Errorf("answer %q", resp.Text)
		}
		return err
	}
	bare := func() error {
		cmd := exec.Command("/bin/echo", "42")
		cmd.Stdin = strings.NewReader("What is the answer?")
		_, err := cmd.CombinedOutput()
		return err
	}
	for _, beside := range []int{0, 1000} {
		b.Run(fmt.Sprintf("beside %d", beside), func(b *testing.B) {
			idle(b, beside)
			require.NoError(b, call())
			for _, width := range []int{1, atOnce} {
				b.Run(fmt.Sprintf("%d at once", width), func(b *testing.B) {
					var ours, theirs cost
					for b.Loop() {
						theirs.add(many(b, width, bare))
						ours.add(many(b, width, call))
					}
					b.ReportMetric(float64(manyCalls*b.N)/ours.time.Seconds(), "calls/s")
					b.ReportMetric(float64(manyCalls*b.N)/theirs.time.Seconds(), "os-exec/s")
					b.ReportMetric(100*theirs.time.Seconds()/ours.time.Seconds(), "%time")
					b.ReportMetric(float64(ours.cpu.Microseconds())/float64(manyCalls*b.N), "cpu-µs/call")
					b.ReportMetric(float64(theirs.cpu.Microseconds())/float64(manyCalls*b.N), "os-exec-cpu-µs/call")
					b.ReportMetric(100*theirs.cpu.Seconds()/ours.cpu.Seconds(), "%cpu")
				})
			}
		})
	}
}

// idle starts processes that do nothing until the end of the benchmark.
func idle(b *testing.B, processes int) {
	for range processes {
		cmd := exec.Command("/bin/sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(b, cmd.Start())
		b.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	}
}

// cost is the time of calls, and the CPU time of this process and of the processes that it waited for.
type cost struct{ time, cpu time.Duration }

func (c *cost) add(other cost) { c.time, c.cpu = c.time+other.time, c.cpu+other.cpu }

// many returns the cost of the calls at a given concurrency.
func many(b *testing.B, width int, call func() error) cost {
	start, before := time.Now(), usedWithChildren(b)
	var group sync.WaitGroup
	turns := make(chan struct{}, width)
	for range manyCalls {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if err := call(); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	return cost{time.Since(start), usedWithChildren(b) - before}
}

func usedWithChildren(b *testing.B) time.Duration {
	var used unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_CHILDREN, &used))
	return usedCPU(b) + time.Duration(used.Utime.Nano()+used.Stime.Nano())
}
