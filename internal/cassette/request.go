package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
)

type plainRequest call.Request

// Request is the canonical form of a request: equal requests have equal forms on all machines. It has everything that
// changes the answer, and neither metadata, payers, environment variables nor the working directory.
type Request struct {
	Messages []Message `json:"messages"`
	plainRequest
}

// Message is a message whose lines are easy to read.
type Message struct {
	Role    call.Role `json:"role"`
	Content folded    `json:"content"`
}

// Canonical returns the canonical form of a request. The error has the reason bad_option.
func Canonical(req call.Request) (c Request, err error) {
	req = req.Clone()
	for i, m := range req.Messages {
		if !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, 0) {
			return c, call.Errorf(call.ReasonBadOption, fmt.Sprintf("messages[%d].content", i),
				"must be valid UTF-8 without NUL bytes")
		}
		c.Messages = append(c.Messages, Message{m.Role, folded(m.Content)})
	}
	if req.Model = strings.TrimSpace(req.Model); req.Model == "default" || req.Model == "unknown" {
		req.Model = ""
	}
	req.Messages, req.Dir, req.Env, req.Metadata, req.Billing = nil, "", nil, nil, ""
	c.plainRequest = plainRequest(req)
	if err := canonicalJSON(&c.Schema, "schema"); err != nil {
		return c, err
	}
	return c, canonicalOptions(&c.Options)
}

func canonicalOptions(o *call.Options) error {
	if err := canonicalJSON(&o.Agents, "options.agents"); err != nil {
		return err
	}
	for i := range o.MCPConfig {
		if err := canonicalJSON(&o.MCPConfig[i], fmt.Sprintf("options.mcp_config[%d]", i)); err != nil {
			return err
		}
	}
	for i, dir := range o.AddDirs {
		o.AddDirs[i] = filepath.Base(dir)
	}
	for i, image := range o.Images {
		data, err := localfile.Read(image, maxImage)
		if err != nil {
			return call.Errorf(call.ReasonBadOption, fmt.Sprintf("options.images[%d]", i), "cannot be read: %v", err)
		}
		sum := sha256.Sum256(data)
		o.Images[i] = filepath.Base(image) + " sha256:" + hex.EncodeToString(sum[:8])
	}
	return nil
}

// maxImage is the maximum size of an image, in bytes.
const maxImage = 64 << 20

// canonicalJSON sorts the members of a JSON value and removes white space.
func canonicalJSON(raw *json.RawMessage, field string) error {
	if len(*raw) == 0 {
		return nil
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(*raw))
	d.UseNumber()
	err := d.Decode(&value)
	if err == nil {
		*raw, err = json.Marshal(value)
	}
	if err != nil {
		return call.Errorf(call.ReasonBadOption, field, "is not valid JSON: %v", err)
	}
	return nil
}

// Key identifies a canonical request.
type Key [sha256.Size]byte

// Key returns the hash of the request.
func (r Request) Key() Key {
	data, _ := json.Marshal(r) // it cannot fail: the raw values are valid
	return sha256.Sum256(data)
}

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// lines returns the request as it is in a file, one line for each line of a message.
func (r Request) lines() []string {
	data, _ := indented(r) // as in Key
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// maxSlug is the maximum length of the words in the name of a file.
const maxSlug = 40

// FileName returns the name of the file for the request: the first words of its last message and a part of its key.
func (r Request) FileName() string {
	text := ""
	if n := len(r.Messages); n > 0 {
		text = string(r.Messages[n-1].Content)
	}
	var slug strings.Builder
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}) {
		if slug.Len()+len(word) > maxSlug {
			break
		}
		slug.WriteString(word + "-")
	}
	if slug.Len() == 0 {
		slug.WriteString("request-")
	}
	return slug.String() + r.Key().String()[:12] + ".json"
}
