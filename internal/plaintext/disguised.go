package plaintext

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// CleanDisguised is like Clean, and also finds secrets of the environment that a terminal or an encoder has changed.
// It finds secrets that contain escape sequences, invisible characters, spaces, line breaks or colons, and secrets in
// a different case. It also finds them as "\xNN" or "%NN", in base32, and in base64 of base64. It also finds pieces of
// random secrets of at least 16 bytes. It costs several times as much as Clean.
func (r *Redactor) CleanDisguised(text string) string {
	if r != nil && len(r.secrets) > 0 && len(text) >= minSecret {
		r.disguiseOnce.Do(r.learnDisguises)
		text = r.disguises.clean(text)
	}
	return r.Clean(text)
}

// AllDisguised applies CleanDisguised to all texts in place.
func (r *Redactor) AllDisguised(texts []string) {
	for i := range texts {
		texts[i] = r.CleanDisguised(texts[i])
	}
}

func (r *Redactor) learnDisguises() {
	r.disguises = disguises{whole: map[uint64][]string{}, pieces: map[string]bool{}}
	for _, secret := range r.secrets {
		for _, form := range disguisesOf(secret) {
			r.disguises.addWhole(form)
		}
		for _, word := range randomWords(secret, randomPiece) {
			for _, form := range disguisesOf(word) {
				r.disguises.addPieces(form)
			}
		}
	}
}

// disguisesOf returns the encoded forms of a secret in the form that fold produces.
func disguisesOf(secret string) (forms []string) {
	add := func(form string) { forms = append(forms, string(bytesOf(fold(form)))) }
	add(secret)
	add(hex.EncodeToString([]byte(secret)))
	add(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(secret)))
	for _, inner := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 {
			once := insideBase64(inner, secret, before)
			add(once)
			for outer := range 3 {
				add(insideBase64(base64.StdEncoding, once, outer)) // fold converts URL base64 to standard base64
			}
		}
	}
	return forms
}

// disguises finds folded secrets in folded texts.
type disguises struct {
	whole  map[uint64][]string // key: the first eight bytes
	pieces map[string]bool     // pieces of 16 bytes
	maybe  [1 << 12]bool       // index: hashOf of the first eight bytes
}

func (d *disguises) addWhole(form string) {
	if len(form) >= minSecret {
		head := headOf(form)
		d.whole[head] = append(d.whole[head], form)
		d.maybe[hashOf(head)] = true
	}
}

func (d *disguises) addPieces(form string) {
	for i := 0; i+randomPiece <= len(form); i++ {
		d.pieces[form[i:i+randomPiece]] = true
		d.maybe[hashOf(headOf(form[i:]))] = true
	}
}

// clean replaces the disguised secrets in a text.
func (d *disguises) clean(text string) string {
	units := fold(text)
	folded := bytesOf(units)
	var out cut
	for i := 0; i+minSecret <= len(folded); i++ {
		head := binary.BigEndian.Uint64(folded[i:])
		if !d.maybe[hashOf(head)] {
			continue
		}
		if n := d.at(folded[i:], head); n > 0 {
			out.drop(text, units[i].from, units[i+n-1].to)
		}
	}
	return out.rest(text)
}

// at returns the length of the secret, or piece of a secret, at the start of a folded text. It returns 0 if there is
// none.
func (d *disguises) at(folded []byte, head uint64) (n int) {
	for _, form := range d.whole[head] {
		if len(form) > n && len(form) <= len(folded) && string(folded[:len(form)]) == form {
			n = len(form)
		}
	}
	if n < randomPiece && len(folded) >= randomPiece && d.pieces[string(folded[:randomPiece])] {
		n = randomPiece
	}
	return n
}
