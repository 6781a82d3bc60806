package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/openai"
)

// connection records the deadlines that a handler sets.
type connection struct {
	*httptest.ResponseRecorder
	reads, writes []time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error  { c.reads = append(c.reads, t); return nil }
func (c *connection) SetWriteDeadline(t time.Time) error { c.writes = append(c.writes, t); return nil }

// TestDeadlines checks that the server limits the time to read a request and to write a response, but not the time
// between them. A limit of an earlier request does not remain.
func TestDeadlines(t *testing.T) {
	h := openai.NewHandler(says("x"), &openai.Config{Token: token})
	for _, test := range []struct {
		name, body string
		status     int
	}{
		{"answer", hi, 200}, {"stream", streamHi, 200}, {"refused request", "{", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(test.body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			c := &connection{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(c, r)
			require.Equal(t, test.status, c.Code)
			require.Len(t, c.reads, 2)
			require.WithinRange(t, c.reads[0], time.Now(), time.Now().Add(2*time.Minute))
			require.Zero(t, c.reads[1], "the reader must notice a disconnect")
			require.GreaterOrEqual(t, len(c.writes), 2)
			require.Zero(t, c.writes[0])
			for _, at := range c.writes[1:] {
				require.WithinRange(t, at, time.Now(), time.Now().Add(2*time.Minute))
			}
		})
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(hi)) // the token is missing
	c := &connection{ResponseRecorder: httptest.NewRecorder()}
	h.ServeHTTP(c, r)
	require.Equal(t, 401, c.Code)
	require.Len(t, c.reads, 1, "the deadline of an unread body remains")
}
