package serving

import (
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

const (
	largeExchange = 1 << 20 // bytes of a request and its answer, after which memory is returned
	returnDelay   = 200 * time.Millisecond
	writeBuffer   = 64 << 10 // bytes that the system takes for a client that does not read
)

// returningMemory returns memory to the system after large requests and answers. The runtime of Go would keep it for
// minutes.
func returningMemory(next http.Handler) http.Handler {
	timer := time.AfterFunc(returnDelay, debug.FreeOSMemory)
	timer.Stop()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counting := &countingWriter{ResponseWriter: w}
		defer func() {
			if counting.bytes+r.ContentLength >= largeExchange {
				timer.Reset(returnDelay)
			}
		}()
		next.ServeHTTP(counting, r)
	})
}

// limitBuffer limits what the system takes for a slow client. Otherwise the server reads megabytes ahead of it.
func limitBuffer(ctx context.Context, connection net.Conn) context.Context {
	if c, ok := connection.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = c.SetWriteBuffer(writeBuffer) // without the limit the server needs more memory
	}
	return ctx
}

// countingWriter counts the bytes of a response.
type countingWriter struct {
	http.ResponseWriter
	bytes int64
}

// Write counts the bytes of the body.
func (w *countingWriter) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
