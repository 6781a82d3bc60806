package check

import (
	"fmt"
	"strings"
	"sync"
)

const (
	// maxOutput is how many bytes from the end of an output are returned.
	maxOutput = 64 << 10
	// margin is how many more bytes are kept, so that a secret at the cut is found as a whole.
	margin = 16 << 10
)

// tail keeps the end of the output of a check, standard output and standard error in the order of arrival. It is safe
// for concurrent use.
type tail struct {
	mu      sync.Mutex
	data    []byte
	dropped int
}

// Write adds output. It never fails.
func (t *tail) Write(chunk []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, chunk...)
	if len(t.data) > 2*(maxOutput+margin) {
		cut := len(t.data) - maxOutput - margin
		t.dropped += cut
		t.data = append(t.data[:0], t.data[cut:]...)
	}
	return len(chunk), nil
}

// text returns the end of the output as valid UTF-8, without surrounding white space and without the secrets that
// redact removes. A line tells how much is missing before it.
func (t *tail) text(redact func(string) string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := redact(strings.ToValidUTF8(string(t.data), "�"))
	cut := max(len(text)-maxOutput, 0)
	text = strings.TrimSpace(strings.ToValidUTF8(text[cut:], "�"))
	if cut += t.dropped; cut > 0 {
		text = fmt.Sprintf("[%d bytes dropped]\n%s", cut, text)
	}
	return text
}
