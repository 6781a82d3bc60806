package check

import (
	"fmt"
	"strings"
	"sync"
)

// maxOutput is how many bytes from the end of an output are kept.
const maxOutput = 64 << 10

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
	if len(t.data) > 2*maxOutput {
		cut := len(t.data) - maxOutput
		t.dropped += cut
		t.data = append(t.data[:0], t.data[cut:]...)
	}
	return len(chunk), nil
}

// String returns the end of the output as valid UTF-8, without surrounding white space. A line tells how much is
// missing before it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	cut := max(len(t.data)-maxOutput, 0)
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.data[cut:]), "�"))
	if cut += t.dropped; cut > 0 {
		text = fmt.Sprintf("[%d bytes dropped]\n%s", cut, text)
	}
	return text
}
