package openai

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/response"
)

const (
	backendHeader  = "Clichain-Backend"
	attemptsHeader = "Clichain-Attempts"
	ignoredHeader  = "Clichain-Ignored"
)

const (
	readLimit  = time.Minute      // for a client to send its request
	writeLimit = 30 * time.Second // for a client to read one write
)

// reply is a response with what is logged of it.
type reply struct {
	http.ResponseWriter
	id      string
	status  int // zero: nothing was written
	backend string

	complete bool // the client has the whole response
	timedOut bool // the body of the request did not arrive in time
}

// newID returns a random id.
func newID() string { return strings.ToLower(rand.Text()) }

// WriteHeader keeps the status.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write keeps the default status.
func (w *reply) Write(data []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limitRead limits the time for the body, and removes the limit that the last request on this connection left.
// Deadlines fail on connections without them, such as those of a test.
func limitRead(w http.ResponseWriter) {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(readLimit))
	_ = connection.SetWriteDeadline(time.Time{})
}

// limitWrite limits the time of the next write.
func (w *reply) limitWrite() {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
}

// answeredBy sets the headers of an answer.
func (w *reply) answeredBy(backend string, attempts []clichain.Attempt) {
	w.backend = backend
	w.Header().Set(backendHeader, backend)
	w.setAttempts(attempts)
}

// setAttempts names the backends that did not answer, such as "gemini=not_installed, codex=rate_limited".
func (w *reply) setAttempts(attempts []clichain.Attempt) {
	var list []string
	for _, a := range attempts {
		list = append(list, a.Backend+"="+string(a.Reason))
	}
	if len(list) > 0 {
		w.Header().Set(attemptsHeader, strings.Join(list, ", "))
	}
}

// json sends a value as the whole response.
func (w *reply) json(value any) *apierror.Error {
	var out bytes.Buffer
	if err := response.WriteJSON(&out, value); err != nil {
		return apierror.New(http.StatusInternalServerError, apierror.TypeServer, "", "%v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.limitWrite()
	_, err := w.Write(out.Bytes()) // a client that left needs no answer
	w.complete = err == nil
	return nil
}

// maxRetryWait is the longest time that the official clients wait before they retry.
const maxRetryWait = time.Minute

// fail sends an error. The official clients retry after some statuses, and a header reports that a retry is useless.
func (w *reply) fail(err *apierror.Error) {
	wait := time.Until(err.RetryAfter)
	if !err.RetryAfter.IsZero() {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(wait.Round(time.Second).Seconds()))))
	}
	if err.Permanent || wait > maxRetryWait {
		w.Header().Set("X-Should-Retry", "false")
	}
	w.setAttempts(err.Attempts)
	w.Header().Set("Content-Type", "application/json")
	w.limitWrite()
	w.WriteHeader(err.Status)
	_ = json.NewEncoder(w).Encode(err.Body()) // a client that left needs no answer
}
