package proc

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waitingFor waits until n scans have been requested.
func waitingFor(p *procfs, n int) {
	for {
		p.queue.mu.Lock()
		waiting := len(p.queue.waiting)
		p.queue.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Callers that wait during a scan are served together by the next scan, each with all processes that it needs.
func TestScansAreShared(t *testing.T) {
	older, younger := process(5, 1, 5, 5, 100), process(6, 1, 6, 6, 300)
	p := fakeProc(t, nil, older, younger)
	scanned(t, p, 0) // their start times are known
	var group sync.WaitGroup
	p.mu.Lock()
	scans := map[*stat]bool{} // by the address of their processes; guarded by p.mu
	for i := range 20 {
		group.Go(func() {
			see := func(all []stat) {
				assert.Subset(t, all, []stat{younger})
				if i%2 == 0 {
					assert.Subset(t, all, []stat{older})
				}
				scans[&all[0]] = true
				if len(all) == 2 {
					_ = os.RemoveAll(p.root + "/5") // another scan would not find it
				}
			}
			assert.NoError(t, p.scan([]uint64{50, 200}[i%2], see))
		})
	}
	waitingFor(p, 20)
	p.mu.Unlock()
	group.Wait()
	require.Len(t, scans, 1)
	require.Equal(t, []stat{younger}, scanned(t, p, 50))

	p.root += "/gone"
	p.mu.Lock()
	for range 2 {
		group.Go(func() { assert.ErrorIs(t, p.scan(0, nil), os.ErrNotExist) })
	}
	waitingFor(p, 2)
	p.mu.Unlock()
	group.Wait()
}

// A scan serves no caller that came after its beginning.
func TestScanBeginsAfterRequest(t *testing.T) {
	p := fakeProc(t, nil, process(5, 1, 5, 5, 100))
	var second []stat
	done := make(chan struct{})
	require.NoError(t, p.scan(0, func([]stat) {
		writeStat(t, p, process(6, 1, 6, 6, 200))
		go func() {
			defer close(done)
			_ = p.scan(0, func(all []stat) { second = slices.Clone(all) })
		}()
		waitingFor(p, 1)
	}))
	<-done
	require.ElementsMatch(t, []int{5, 6}, ids(second))
}
