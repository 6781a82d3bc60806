package proc

import "sync"

// scanRequest asks for a scan that passes the processes that started at or after since to see.
type scanRequest struct {
	since uint64
	see   func(all []stat)
	done  bool // a scan has served the request and returned err
	err   error
}

// scanQueue contains the requests for the next scan. One scan, which begins after they were added, serves all
// of them. The zero value is empty. A scanQueue is safe for concurrent use.
type scanQueue struct {
	mu      sync.Mutex
	waiting []*scanRequest
}

func (q *scanQueue) add(since uint64, see func(all []stat)) *scanRequest {
	request := &scanRequest{since: since, see: see}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, request)
	return request
}

// take removes all requests and returns them with the earliest since. The queue must contain at least one
// request.
func (q *scanQueue) take() (all []*scanRequest, since uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, q.waiting = q.waiting, nil
	since = all[0].since
	for _, request := range all {
		since = min(since, request.since)
	}
	return all, since
}
