package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	bodyLimit  = time.Minute      // for a client to send its request
	writeLimit = 30 * time.Second // and to read a piece of the answer
)

// boundReading bounds the time of the body, and forgets the bound that the request before on this connection has left.
// The errors of deadlines are those of connections that have none, such as a test's.
func boundReading(w http.ResponseWriter) {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(bodyLimit))
	_ = connection.SetWriteDeadline(time.Time{})
}

// boundWriting bounds the time of the next write.
func boundWriting(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
}

// body reads the body of a request.
func (h *handler) body(w *reply, r *http.Request) ([]byte, *apiError) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, mistake(http.StatusUnsupportedMediaType, "", "unsupported_media_type",
			"send Content-Type: application/json, not %q", kind)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.MaxBodyBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, mistake(http.StatusRequestEntityTooLarge, "", "request_too_large",
			"the body is larger than %s", mib(h.MaxBodyBytes))
	}
	if err != nil {
		return nil, mistake(http.StatusBadRequest, "", "unreadable_body", "the body cannot be read: %v", err)
	}
	// From now on, reading only notices that the client leaves.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return data, nil
}

func mib(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
