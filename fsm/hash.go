package fsm

import "math/bits"

// A sipKey keys a [hash].
type sipKey struct{ k0, k1 uint64 }

// fixedKey keys the hashes that go into the state's checksum, so that every
// node computes the same one.
var fixedKey = sipKey{0x74656e7572652d66, 0x736d2d636865636b}

// hash is SipHash-1-3 of text: keyed, so that whoever chooses keys or owners
// but doesn't know the seed of a node can't make them collide in its index.
func hash[T string | []byte](k sipKey, text T) uint64 {
	v0 := k.k0 ^ 0x736f6d6570736575
	v1 := k.k1 ^ 0x646f72616e646f6d
	v2 := k.k0 ^ 0x6c7967656e657261
	v3 := k.k1 ^ 0x7465646279746573
	last := uint64(len(text)) << 56
	for ; len(text) >= 8; text = text[8:] {
		word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		v3 ^= word
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= word
	}
	for i := range len(text) {
		last |= uint64(text[i]) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32) + v3
	v2 += v1
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	return v0, v1, bits.RotateLeft64(v2, 32), v3
}

// mix is a bijection of 64 bits in which each bit of x moves about half of the
// result's.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
