package jetstream_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var waiting = flag.Int("waiting", 2000, "how many jobs TestMemoryOfAWorker has, and TestOverhead a tenth of it")

// TestOverhead compares the queue with a plain pool of goroutines that asks the same backend, in one run. Each job has
// a submission, a delivery, a result and its acknowledgement, all on the disk. "-run TestOverhead -v
// -waiting 20000" prints the figures.
func TestOverhead(t *testing.T) {
	const slots = 4
	jobs := *waiting / 10
	answer := noCooldown(echo())
	server, err := jetstream.Embed(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	nc, err := server.Connect()
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, nil)
	ends := make(chan string, jobs)
	work(t, q, answer, &jetstream.WorkConfig{Slots: slots, OnResult: func(r *jetstream.Result) { ends <- r.ID }})

	began := time.Now()
	var each []time.Duration
	for i := range jobs { // one at a time: the end-to-end latency of a job
		at := time.Now()
		submit(t, q, job(fmt.Sprint(i)))
		<-ends
		each = append(each, time.Since(at))
	}
	alone := time.Since(began)
	slices.Sort(each)

	began = time.Now()
	go func() {
		for i := range jobs {
			_ = q.Submit(t.Context(), job(fmt.Sprint("many ", i)))
		}
	}()
	var gaps []time.Duration // between one result and the next
	for at := began; len(gaps) < jobs; at = time.Now() {
		<-ends
		gaps = append(gaps, time.Since(at))
	}
	many := time.Since(began)
	slices.Sort(gaps)

	plain := pool(t, answer, jobs, slots)
	t.Logf("queue, one job at a time: median %v, p99 %v (all %v)", each[jobs/2], each[jobs*99/100], alone)
	t.Logf("queue, %d slots: median %v a job, mean %v; goroutines: mean %v", slots, gaps[jobs/2],
		many/time.Duration(jobs), plain/time.Duration(jobs))
	require.Less(t, each[jobs/2], 250*time.Millisecond, "no machine needs so long: 37 ms beside four busy loops")
}

func pool(t *testing.T, b clichain.Backend, jobs, slots int) time.Duration {
	began := time.Now()
	requests := make(chan int)
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for i := range requests {
				_, err := b.Complete(t.Context(), job(fmt.Sprint(i)).Request)
				require.NoError(t, err)
			}
		})
	}
	for i := range jobs {
		requests <- i
	}
	close(requests)
	all.Wait()
	return time.Since(began)
}

// A worker's memory does not grow with the number of waiting or finished jobs. -waiting sets that number.
func TestMemoryOfAWorker(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what a process has is told by /proc")
	}
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, soakConfig)
	var submitters sync.WaitGroup
	var next atomic.Int64
	for range 16 {
		submitters.Go(func() {
			for i := next.Add(1); i <= int64(*waiting); i = next.Add(1) {
				if err := q.Submit(t.Context(), job(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	submitters.Wait()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), workerVariable+"="+s.ClientURL()), os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), limit+time.Duration(*waiting)*100*time.Millisecond)
	defer cancel()
	n, early := 0, 0
	for _, err := range q.Results(ctx, 0) {
		require.NoError(t, err)
		if n++; n == *waiting/10 {
			early = peak(t, cmd.Process.Pid)
		}
		if n == *waiting {
			break
		}
	}
	require.Equal(t, *waiting, n)
	late := peak(t, cmd.Process.Pid)
	t.Logf("%d jobs: the worker had %d MiB at most after a tenth of them, and %d MiB after all", n, early>>10, late>>10)
	require.Less(t, late, early*5/4+16<<10)
}

// peak returns the peak memory of a process, in KiB.
func peak(t *testing.T, pid int) (kib int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib
		}
	}
	require.Fail(t, "no VmHWM")
	return 0
}
