package proc

import "sync"

// look is what a run wants of a scan: to see the processes that started since a time.
type look struct {
	since uint64
	see   func(all []stat)
	done  bool // by a scan, which ended with err
	err   error
}

// looks are those that wait for the next scan: one that begins after they came shows each of them what it wants,
// however many runs end at once. The zero value has none. It is safe for concurrent use.
type looks struct {
	mu      sync.Mutex
	waiting []*look
}

func (l *looks) add(since uint64, see func(all []stat)) *look {
	own := &look{since: since, see: see}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, own)
	return own
}

// take removes those that wait, for a scan that serves them all.
func (l *looks) take() (all []*look, since uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, l.waiting = l.waiting, nil
	since = all[0].since // that of whoever takes is among them
	for _, other := range all {
		since = min(since, other.since)
	}
	return all, since
}
