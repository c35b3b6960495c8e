package store

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// longestDirName leaves room below the 255 bytes that file systems allow.
const longestDirName = 200

// dirName returns the name of a key's directory: readable where the key is, and
// different for different keys also where a file system ignores case. A key
// that would be too long goes by its hash; its copies say whose they are.
func dirName(key string) string {
	var name strings.Builder
	for i := range len(key) {
		if plain(key[i]) {
			name.WriteByte(key[i])
		} else {
			fmt.Fprintf(&name, "%%%02X", key[i])
		}
	}
	if name.Len() > longestDirName {
		return fmt.Sprintf("sha256=%x", sha256.Sum256([]byte(key))) // no escaped key has a '='
	}
	return name.String()
}

func plain(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_'
}
