package loopback

import (
	"fmt"
	"net/http"
	"strings"
)

// protocol is one API: how to recognise a request, read it, and answer it.
type protocol struct {
	name    Protocol
	matches func(path string) bool
	read    func(r *http.Request, body []byte) (v view, side bool)
	encode  func(q Request, r Reply) stream
	whole   func(q Request, r Reply) any       // the answer to a request that asked for no stream
	problem func(code int, kind, m string) any // an error body
	aside   func(q Request) Reply              // the answer to a Side request
}

var protocols = []*protocol{&messagesProtocol, &responsesProtocol, &chatProtocol, &geminiProtocol}

func protocolFor(r *http.Request) *protocol {
	if r.Method != http.MethodPost {
		return nil
	}
	for _, p := range protocols {
		if p.matches(r.URL.Path) {
			return p
		}
	}
	return nil
}

func (p *protocol) writeStatus(w http.ResponseWriter, s *statusReply) {
	body := s.body
	if s.kind != "" {
		body = mustJSON(p.problem(s.code, s.kind, s.body))
	}
	s.writeHeader(w)
	_, _ = fmt.Fprint(w, body)
}

func endsWith(suffixes ...string) func(string) bool {
	return func(path string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				return true
			}
		}
		return false
	}
}

// The numbers of every answer: tests compare them with what a CLI reports.
const (
	InputTokens     = 12
	CachedTokens    = 3
	OutputTokens    = 7
	ReasoningTokens = 1
)

func callID(q Request, i int) string { return fmt.Sprintf("call_%d_%d", q.N, i) }

// texts joins what a list of content blocks says; the APIs accept a string or a list everywhere.
func texts(content any) []string {
	switch c := content.(type) {
	case string:
		return []string{c}
	case []any:
		var out []string
		for _, block := range c {
			if b, ok := block.(object); ok {
				if t, ok := b["text"].(string); ok {
					out = append(out, t)
				}
			}
		}
		return out
	}
	return nil
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func str(v any) string { s, _ := v.(string); return s }
