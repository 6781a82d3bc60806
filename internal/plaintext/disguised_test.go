package plaintext

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// between inserts with between all characters of a text.
func between(text, with string) string { return strings.Join(strings.Split(text, ""), with) }

// escaped formats each byte of a text.
func escaped(text, format string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, format, text[i])
	}
	return b.String()
}

// disguised maps names to the forms that terminals and encoders produce.
var disguised = map[string]func(string) string{
	"in colours":                func(s string) string { return between(s, "\x1b[1;31m") },
	"in 24-bit colors":          func(s string) string { return between(s, "\x1b[38:2::1:2:3m") },
	"colors as JSON":            func(s string) string { return between(s, `\u001b[0m`) },
	"colors as a string":        func(s string) string { return between(s, `\e[0m`) },
	"colors in hex":             func(s string) string { return between(s, `\x1b[K`) },
	"with a title":              func(s string) string { return s[:5] + "\x1b]0;claude\x07" + s[5:] },
	"in a link":                 func(s string) string { return s[:5] + "\x1b]8;;https://host/\x1b\\" + s[5:] + "\x1b]8;;\x1b\\" },
	"cursor saved":              func(s string) string { return s[:5] + "\x1b7" + s[5:] },
	"character set":             func(s string) string { return s[:5] + "\x1b(B" + s[5:] },
	"zero width spaces":         func(s string) string { return between(s, "\u200b") },
	"soft hyphens":              func(s string) string { return between(s, "\u00ad") },
	"direction marks":           func(s string) string { return between(s, "\u202e") },
	"blanks":                    func(s string) string { return between(s, " ") },
	"wide blanks":               func(s string) string { return between(s, "\u00a0") },
	"line ends":                 func(s string) string { return between(s, "\r\n") },
	"line breaks as JSON":       func(s string) string { return between(s, `\n`) },
	"backspaces":                func(s string) string { return between(s, "\b") },
	"a frame":                   func(s string) string { return s[:9] + " │\n│ " + s[9:] },
	"capitals":                  strings.ToUpper,
	"small letters":             strings.ToLower,
	"colons in hex":             func(s string) string { return between2(hex.EncodeToString([]byte(s)), ":") },
	"spaces in hex":             func(s string) string { return between2(strings.ToUpper(hex.EncodeToString([]byte(s))), " ") },
	"mixed hex":                 func(s string) string { return mixed(hex.EncodeToString([]byte(s))) },
	"base32":                    func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"small base32":              func(s string) string { return strings.ToLower(base32.StdEncoding.EncodeToString([]byte(s))) },
	"base64 of base64":          func(s string) string { return b64(b64(s)) },
	"base64 of user and secret": func(s string) string { return b64("Basic " + b64("user:"+s)) },
	"wrapped twice":             func(s string) string { return between(b64(b64(s)), "\n") },
	"base64 for URLs": func(s string) string {
		return base64.URLEncoding.EncodeToString([]byte(base64.URLEncoding.EncodeToString([]byte(s))))
	},
	"bytes":           func(s string) string { return escaped(s, `\x%02x`) },
	"bytes in JSON":   func(s string) string { return escaped(s, `\\x%02X`) },
	"octal":           func(s string) string { return escaped(s, `\%03o`) },
	"characters":      func(s string) string { return escaped(s, `\u%04x`) },
	"percent":         func(s string) string { return escaped(s, `%%%02x`) },
	"capital percent": func(s string) string { return escaped(s, `%%%02X`) },
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func between2(text, with string) string {
	var b strings.Builder
	for i := 0; i < len(text); i += 2 {
		b.WriteString(text[i:i+2] + with)
	}
	return b.String()
}

func mixed(text string) string {
	return strings.ToUpper(text[:len(text)/2]) + strings.ToLower(text[len(text)/2:])
}

func TestCleanDisguised(t *testing.T) {
	for _, secret := range []string{aRandom(36), "my-own-value", "n/val<ue>_of?a&test", "correct horse battery", `back\slash:and"quote`} {
		r := NewRedactor([]string{"A_KEY=" + secret})
		for form, disguise := range disguised {
			cleaned := r.CleanDisguised("401 for <" + disguise(secret) + "> at /home/someone")
			require.Regexp(t, `^401 for <\S{0,20}\[redacted\](?:\s*\S){0,12}\s?> at /home/someone$`, cleaned, "%s of %q: %q", form, secret, disguise(secret))
		}
	}
}

// A piece of 16 bytes of a random secret is also a secret, disguised or not.
func TestCleanDisguisedPieces(t *testing.T) {
	secret := strings.ToUpper(aRandom(12)) + aRandom(24)
	r := NewRedactor([]string{"A_KEY=" + secret})
	for from := 0; from+randomPiece <= len(secret); from++ {
		for to := from + randomPiece; to <= len(secret); to++ {
			piece := secret[from:to]
			require.Equal(t, "<[redacted]>", r.CleanDisguised("<"+piece+">"))
			require.Equal(t, "<[redacted]>", r.CleanDisguised("<"+between(piece, "\u200b")+">"))
		}
	}
	require.Equal(t, secret[:15], r.CleanDisguised(secret[:15]))
	path := NewRedactor([]string{"GOOGLE_APPLICATION_CREDENTIALS=/home/someone/projects/secrets/account.json"})
	require.Equal(t, "no /home/someone/projects/other", path.CleanDisguised("no /home/someone/projects/other"))
}

// Text that only looks disguised stays unchanged.
func TestCleanDisguisedKeepsOtherText(t *testing.T) {
	r := NewRedactor([]string{"A_KEY=" + aRandom(36), "B_KEY=nine words of a test", "C_TOKEN=123e4567-e89b-12d3-a456-426614174000", "D_KEY=ab:cd:ef"})
	for _, text := range []string{
		"", "short", "claude-sonnet-4-5-20250929 \x1b[31mnot found\x1b[0m", "/home/someone/a b/c.go:12:3: \\x41\\u00e9 100%", "\x1b]0;unfinished", "\x1b[", "\x1b",
		"123e4567-e89b-12d3-a456-426614174001", strings.Repeat("Zm9vYmFy", 40), strings.Repeat("0a:1b:", 40), "\xff\xfe\x00", "│ a │\n│ b │", "%", "\\", `\x`, `\u12`, "x9kq2x9kq2x9kq",
	} {
		require.Equal(t, text, r.CleanDisguised(text))
	}
	require.Equal(t, "\x1b[31m"+aRandom(36), (*Redactor)(nil).CleanDisguised("\x1b[31m"+aRandom(36)))
	require.Equal(t, "Bearer [redacted]", (*Redactor)(nil).CleanDisguised("Bearer "+looks("", 10)))
}

// FuzzDisguise searches for a mixture of disguises, chosen by a seed, in which a random secret remains.
func FuzzDisguise(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, "401 for ", " at noon")
	}
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		random := rand.New(rand.NewPCG(seed, 1))
		secret := make([]byte, 24+random.IntN(24))
		for i := range secret {
			secret[i] = letters[random.IntN(len(letters))]
		}
		r := NewRedactor([]string{"A_KEY=" + string(secret)})
		fillers := []string{"\x1b[1m", "\u200b", "\n", " ", "\u00ad", `\n`, "\r\n  ", ":", "\x1b]0;t\x07"}
		var b strings.Builder
		for _, c := range secret {
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&b, []string{`\x%02x`, `\u%04X`, "%%%02x"}[random.IntN(3)], c)
			case 1:
				b.WriteString(fillers[random.IntN(len(fillers))])
				fallthrough
			default:
				b.WriteByte(c)
			}
		}
		if strings.ContainsAny(before+after, "\x1b\\%") {
			return // the text before it may change the meaning of its first bytes
		}
		folded := string(bytesOf(fold(r.CleanDisguised(before + b.String() + after))))
		for i := 0; i+randomPiece <= len(secret); i++ {
			piece := string(bytesOf(fold(string(secret[i : i+randomPiece]))))
			if strings.Contains(folded, piece) && !strings.Contains(before+after, string(secret[i:i+randomPiece])) {
				t.Fatalf("seed %d: %q of %q is left in %q", seed, piece, secret, b.String())
			}
		}
	})
}

func BenchmarkDisguised(b *testing.B) {
	r := NewRedactor([]string{"A_KEY=" + aRandom(36), "B_KEY=nine words of a test", "C_TOKEN=another-value"})
	text := strings.Repeat("at Object.<anonymous> (/usr/lib/node_modules/cli/dist/index.js:12:34)\n", 900)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.CleanDisguised(text)
	}
}
