package loopback

// Script decides what a request is answered with. It runs on the server's goroutines, one request at a time.
type Script func(Request) Reply

// Always answers every request alike.
func Always(r Reply) Script { return func(Request) Reply { return r } }

// InOrder answers the first request with the first reply and so on; the last one repeats.
func InOrder(replies ...Reply) Script {
	return func(q Request) Reply {
		if len(replies) == 0 {
			return Reply{}
		}
		return replies[min(q.N, len(replies))-1]
	}
}
