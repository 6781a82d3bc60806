package proc

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkScan measures the two clean scans that end each run beside 1000 idle processes: once if an earlier
// scan knows that they are older, and once if all are read. On a busy machine, compare cpu-µs/op rather than
// wall time.
func BenchmarkScan(b *testing.B) {
	for range 1000 {
		cmd := exec.Command("/bin/sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(b, cmd.Start())
		b.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	}
	m := newMembers(stat{pid: 1 << 30}, stat{}, newCookie(), guard.leads)
	m.since = 1 << 62 // as for a new run: all others are older
	for _, test := range []struct {
		name  string
		since uint64
	}{{"ages known", m.since}, {"all read", 0}} {
		b.Run(test.name, func(b *testing.B) {
			count, before := 0, cpuTime()
			b.ReportAllocs()
			for b.Loop() {
				for range cleanScans {
					_ = system.scan(test.since, func(all []stat) {
						count = len(all)
						m.pick(all, system.hasCookie)
					})
				}
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(count), "processes")
		})
	}
}

// cpuTime returns the CPU time of this process, in user and kernel mode.
func cpuTime() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used) // cannot fail for this process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkScanWithCookies is the worst case: the environment of every process must be read.
func BenchmarkScanWithCookies(b *testing.B) {
	m := newMembers(stat{pid: 1 << 30}, stat{pid: 1 << 29, session: -1, group: -1}, newCookie(), guard.leads)
	for b.Loop() {
		for range cleanScans {
			_ = system.scan(0, func(all []stat) { m.pick(all, system.hasCookie) })
		}
	}
}

// BenchmarkWatchdog measures sequential runs, alternately with a new watchdog and with an existing one. The
// difference is what a permanent watchdog would save. See ADR 39.
func BenchmarkWatchdog(b *testing.B) {
	one := func() time.Duration {
		began := time.Now()
		_, err := Run(b.Context(), Command{Path: "/bin/true"})
		require.NoError(b, err)
		return time.Since(began)
	}
	var own, kept []time.Duration
	for b.Loop() {
		own = append(own, one())
		guard.hold()
		kept = append(kept, one())
		guard.release()
	}
	for name, list := range map[string][]time.Duration{"own-µs": own, "kept-µs": kept} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds()), name)
	}
}
