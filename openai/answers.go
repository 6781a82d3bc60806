package openai

import (
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/request"
	"github.com/clichain/clichain/openai/internal/response"
)

const (
	maxAnswers     = 1000
	maxAnswerBytes = 8 << 20 // of all texts
)

// answers keeps the texts of answers in memory, because clients of the responses API repeat an answer by its id. It
// drops the oldest text first.
type answers struct {
	mu    sync.Mutex
	texts map[string]string
	ids   []string // the oldest first
	bytes int
}

func newAnswers() *answers { return &answers{texts: map[string]string{}} }

// keep keeps an answer if its request allows that.
func (a *answers) keep(req *request.Request, resp *call.Response) {
	if !req.Keep || len(resp.Text) > maxAnswerBytes {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id := response.MessageID(req)
	a.texts[id], a.ids = resp.Text, append(a.ids, id)
	for a.bytes += len(resp.Text); a.bytes > maxAnswerBytes || len(a.ids) > maxAnswers; a.ids = a.ids[1:] {
		a.bytes -= len(a.texts[a.ids[0]])
		delete(a.texts, a.ids[0])
	}
}

// recall returns the text of an answer.
func (a *answers) recall(id string) (text string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, ok = a.texts[id]
	return text, ok
}
