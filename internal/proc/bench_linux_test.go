package proc

import "testing"

// BenchmarkScan measures the two clean scans that end each run, with the processes that this system has just now.
func BenchmarkScan(b *testing.B) {
	m := newMembers(stat{pid: 1 << 30}, stat{}, newCookie())
	m.since = 1 << 62 // as for a fresh run: all others are older
	count := 0
	b.ReportAllocs()
	for b.Loop() {
		for range cleanScans {
			_ = system.scan(func(all []stat) {
				count = len(all)
				m.pick(all, system.hasCookie)
			})
		}
	}
	b.ReportMetric(float64(count), "processes")
}

// BenchmarkScanWithCookies is the worst case: the environment of every process has to be read.
func BenchmarkScanWithCookies(b *testing.B) {
	m := newMembers(stat{pid: 1 << 30}, stat{pid: 1 << 29, session: -1, group: -1}, newCookie())
	for b.Loop() {
		for range cleanScans {
			_ = system.scan(func(all []stat) { m.pick(all, system.hasCookie) })
		}
	}
}
