package plaintext

import (
	"encoding/binary"
	"strings"
)

// CleanLine is Clean for a line that is shown apart from its neighbors. It also removes the end of a secret that began
// on the previous line, and the start of a secret that continues on the next line.
func (r *Redactor) CleanLine(line string) string {
	text := r.Clean(line)
	if r == nil || len(r.plain.forms) == 0 {
		return text
	}
	r.once.Do(func() { r.later = r.plain.laterParts() })
	body := strings.TrimRight(text, " \t\r\n")
	body = r.plain.cleanEnd(body) + text[len(body):]
	start := len(body) - len(strings.TrimLeft(body, " \t"))
	if n := r.later.prefix(strings.TrimRight(body[start:], " \t\r\n")); n > 0 {
		return body[:start] + redaction + body[start+n:]
	}
	return body
}

// parts maps the first eight bytes of ends of secrets to these ends.
type parts map[string][]string

// laterParts returns all proper ends of the secrets.
func (f *finder) laterParts() parts {
	p := parts{}
	for head, tails := range f.forms {
		for _, tail := range tails {
			form := string(binary.BigEndian.AppendUint64(nil, head)) + tail
			for i := 1; i+minSecret <= len(form); i++ {
				p[form[i:i+minSecret]] = append(p[form[i:i+minSecret]], form[i:])
			}
		}
	}
	return p
}

// prefix returns the length of the longest end of a secret at the start of the line. An end longer than the line
// matches if the whole line is its start.
func (p parts) prefix(line string) (longest int) {
	if len(line) < minSecret {
		return 0
	}
	for _, end := range p[line[:minSecret]] {
		if n := min(len(end), len(line)); line[:n] == end[:n] {
			longest = max(longest, n)
		}
	}
	return longest
}
