;; Looks through JSON texts 32 bytes at a time, and hashes. `npm run build:wasm` makes
;; text-scan-wasm.ts of it.
(module
  ;; Fixed, so that views on it never go stale. Pages that are not touched take no memory.
  (memory (export "memory") 300 300)

  ;; Copies the JSON text in [src, end) to `out`, but for long strings that are values: in the place
  ;; of each stands a string of DEL and seven hexadecimal digits, its number. Three words at `spans`
  ;; say of each where it begins, where it ends, and 1 if a character in it is written in an unusual
  ;; way (as a \u escape, or an escaped slash). Returns the length of what was written, or -1 where
  ;; the text is no JSON, or where a short string could be mistaken for one that was set aside.
  (func (export "setAside")
    (param $src i32) (param $end i32) (param $out i32)
    (param $spans i32) (param $spansEnd i32) (param $longBytes i32)
    (result i32)
    (local $at i32) (local $to i32) (local $start i32) (local $p i32) (local $byte i32)
    (local $flag i32) (local $mask i32) (local $length i32) (local $count i32) (local $q i32)
    (local $v v128) (local $escaped v128) (local $quote v128)
    (local $first v128) (local $second v128)
    (local.set $at (local.get $src))
    (local.set $to (local.get $out))
    (block $fail
      (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (if (i32.ne (local.get $byte) (i32.const 0x22))
          (then
            (i32.store8 (local.get $to) (local.get $byte))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $to (i32.add (local.get $to) (i32.const 1)))
            (br $next)))

        ;; A string: look for its closing quote, 32 bytes at a time. Worth a look are quotes that do
        ;; not follow a backslash, control characters, and what follows a backslash but the usual
        ;; letters and the quote: a second backslash too, as the byte behind it is not escaped.
        (local.set $start (i32.add (local.get $at) (i32.const 1)))
        (local.set $p (local.get $start))
        (local.set $flag (i32.const 0))
        (block $closed
          (loop $look
            (if (i32.gt_u (local.get $p) (local.get $end)) (then (br $fail)))
            (local.set $v (v128.load (local.get $p)))
            (local.set $escaped
              (i8x16.eq
                (v128.load (i32.sub (local.get $p) (i32.const 1)))
                (i8x16.splat (i32.const 0x5c))))
            (local.set $quote (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x22))))
            (local.set $first
              (v128.or
                (i8x16.lt_u (local.get $v) (i8x16.splat (i32.const 0x20)))
                (v128.or
                  (v128.andnot (local.get $quote) (local.get $escaped))
                  (v128.andnot
                    (local.get $escaped)
                    (v128.or
                      (v128.or
                        (local.get $quote)
                        (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x74))))
                      (v128.or
                        ;; Two at once: r and b differ in one bit, and so do n and f.
                        (i8x16.eq
                          (v128.or (local.get $v) (i8x16.splat (i32.const 0x10)))
                          (i8x16.splat (i32.const 0x72)))
                        (i8x16.eq
                          (v128.or (local.get $v) (i8x16.splat (i32.const 0x08)))
                          (i8x16.splat (i32.const 0x6e)))))))))
            (local.set $v (v128.load offset=16 (local.get $p)))
            (local.set $escaped
              (i8x16.eq
                (v128.load offset=16 (i32.sub (local.get $p) (i32.const 1)))
                (i8x16.splat (i32.const 0x5c))))
            (local.set $quote (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x22))))
            (local.set $second
              (v128.or
                (i8x16.lt_u (local.get $v) (i8x16.splat (i32.const 0x20)))
                (v128.or
                  (v128.andnot (local.get $quote) (local.get $escaped))
                  (v128.andnot
                    (local.get $escaped)
                    (v128.or
                      (v128.or
                        (local.get $quote)
                        (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x74))))
                      (v128.or
                        ;; Two at once: r and b differ in one bit, and so do n and f.
                        (i8x16.eq
                          (v128.or (local.get $v) (i8x16.splat (i32.const 0x10)))
                          (i8x16.splat (i32.const 0x72)))
                        (i8x16.eq
                          (v128.or (local.get $v) (i8x16.splat (i32.const 0x08)))
                          (i8x16.splat (i32.const 0x6e)))))))))
            (if (i32.eqz (v128.any_true (v128.or (local.get $first) (local.get $second))))
              (then
                (local.set $p (i32.add (local.get $p) (i32.const 32)))
                (br $look)))
            (local.set $p
              (i32.add
                (local.get $p)
                (i32.ctz
                  (i32.or
                    (i8x16.bitmask (local.get $first))
                    (i32.shl (i8x16.bitmask (local.get $second)) (i32.const 16))))))
            (br_if $fail (i32.ge_u (local.get $p) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $p)))
            (if (i32.eq (i32.load8_u (i32.sub (local.get $p) (i32.const 1))) (i32.const 0x5c))
              (then
                (if (i32.ne (local.get $byte) (i32.const 0x5c))
                  (then
                    (local.set $flag (i32.const 1))
                    (if (i32.eq (local.get $byte) (i32.const 0x75))
                      (then (br_if $fail (i32.eqz (call $fourDigits (local.get $p)))))
                      (else (br_if $fail (i32.ne (local.get $byte) (i32.const 0x2f)))))
                    (local.set $p (i32.add (local.get $p) (i32.const 1)))
                    (br $look)))
                ;; Two backslashes are one character; what follows them is not escaped.
                (local.set $p (i32.add (local.get $p) (i32.const 1)))
                (br_if $fail (i32.ge_u (local.get $p) (local.get $end)))
                (local.set $byte (i32.load8_u (local.get $p)))))
            (br_if $closed (i32.eq (local.get $byte) (i32.const 0x22)))
            (br_if $fail (i32.lt_u (local.get $byte) (i32.const 0x20)))
            (local.set $p (i32.add (local.get $p) (i32.const 1)))
            (br $look)))

        (local.set $length (i32.sub (local.get $p) (local.get $start)))
        (local.set $at (i32.add (local.get $p) (i32.const 1)))
        (block $short
          (br_if $short (i32.lt_u (local.get $length) (local.get $longBytes)))
          (br_if $short (i32.ge_u (local.get $spans) (local.get $spansEnd)))
          ;; A key is followed by a colon, and stays.
          (local.set $q (local.get $at))
          (block $solid
            (loop $blank
              (br_if $solid (i32.ge_u (local.get $q) (local.get $end)))
              (local.set $byte (i32.load8_u (local.get $q)))
              (br_if $solid (i32.gt_u (local.get $byte) (i32.const 0x20)))
              (local.set $q (i32.add (local.get $q) (i32.const 1)))
              (br $blank)))
          (br_if $short (i32.eq (local.get $byte) (i32.const 0x3a)))
          (i32.store (local.get $spans) (local.get $start))
          (i32.store offset=4 (local.get $spans) (local.get $p))
          (i32.store offset=8 (local.get $spans) (local.get $flag))
          (local.set $spans (i32.add (local.get $spans) (i32.const 12)))
          (call $placeholder (local.get $to) (local.get $count))
          (local.set $to (i32.add (local.get $to) (i32.const 10)))
          (local.set $count (i32.add (local.get $count) (i32.const 1)))
          (br $next))

        ;; It stays as it is, unless it could decode to the look of one that was set aside.
        (br_if $fail (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x7f)))
        (br_if $fail (i32.eq (i32.load (local.get $start)) (i32.const 0x3030755c))) ;; \u00
        (if (i32.le_u (local.get $length) (i32.const 14))
          (then
            (v128.store (local.get $to)
              (v128.load (i32.sub (local.get $start) (i32.const 1)))))
          (else
            (memory.copy
              (local.get $to)
              (i32.sub (local.get $start) (i32.const 1))
              (i32.add (local.get $length) (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.add (local.get $length) (i32.const 2))))
        (br $next)))
      (return (i32.sub (local.get $to) (local.get $out))))
    (i32.const -1))

  ;; Whether four hexadecimal digits stand behind the u at `at`.
  (func $fourDigits (param $at i32) (result i32)
    (local $n i32) (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u offset=1 (i32.add (local.get $at) (local.get $n))))
      (if
        (i32.eqz
          (i32.or
            (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
            (i32.lt_u
              (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61))
              (i32.const 6))))
        (then (return (i32.const 0))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (i32.const 4))))
    (i32.const 1))

  ;; A quoted DEL and seven hexadecimal digits.
  (func $placeholder (param $to i32) (param $number i32)
    (local $shift i32) (local $digit i32)
    (i32.store16 (local.get $to) (i32.const 0x7f22))
    (i32.store8 offset=9 (local.get $to) (i32.const 0x22))
    (local.set $to (i32.add (local.get $to) (i32.const 2)))
    (local.set $shift (i32.const 24))
    (loop $digits
      (local.set $digit
        (i32.and (i32.shr_u (local.get $number) (local.get $shift)) (i32.const 15)))
      (i32.store8 (local.get $to)
        (i32.add (local.get $digit)
          (select (i32.const 0x57) (i32.const 0x30) (i32.gt_u (local.get $digit) (i32.const 9)))))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (local.set $shift (i32.sub (local.get $shift) (i32.const 4)))
      (br_if $digits (i32.ge_s (local.get $shift) (i32.const 0)))))

  ;; Chains the hashes of `blocks` blocks of 256 bytes from `at` on. The eight bytes at `state` go
  ;; in and come out; of the first `room` results the halves are stored at `low` and `high`. Each
  ;; block is hashed by itself, in four chains, and then joined to what came before: so that one
  ;; block's multiplications overlap with those of the next.
  (func (export "hash")
    (param $at i32) (param $blocks i32) (param $state i32)
    (param $low i32) (param $high i32) (param $room i32)
    (local $hash i64) (local $end i32)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64)
    (local.set $hash (i64.load (local.get $state)))
    (block $done
      (loop $block
        (br_if $done (i32.eqz (local.get $blocks)))
        (local.set $a (i64.const 0x60ea27eeadc0b5d6))
        (local.set $b (i64.const 0xc2b2ae3d27d4eb4f))
        (local.set $c (i64.const 0x165667b19e3779f9))
        (local.set $d (i64.const 0x61c8864e7a143579))
        (local.set $end (i32.add (local.get $at) (i32.const 256)))
        (loop $words
          (local.set $a
            (i64.mul
              (i64.xor (i64.rotl (local.get $a) (i64.const 31)) (i64.load (local.get $at)))
              (i64.const 0x9e3779b185ebca87)))
          (local.set $b
            (i64.mul
              (i64.xor (i64.rotl (local.get $b) (i64.const 31)) (i64.load offset=8 (local.get $at)))
              (i64.const 0x9e3779b185ebca87)))
          (local.set $c
            (i64.mul
              (i64.xor (i64.rotl (local.get $c) (i64.const 31)) (i64.load offset=16 (local.get $at)))
              (i64.const 0x9e3779b185ebca87)))
          (local.set $d
            (i64.mul
              (i64.xor (i64.rotl (local.get $d) (i64.const 31)) (i64.load offset=24 (local.get $at)))
              (i64.const 0x9e3779b185ebca87)))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $words (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $hash
          (call $avalanche
            (i64.add
              (i64.mul (local.get $hash) (i64.const 0xc2b2ae3d27d4eb4f))
              (i64.add
                (i64.add
                  (i64.rotl (local.get $a) (i64.const 1))
                  (i64.rotl (local.get $b) (i64.const 7)))
                (i64.add
                  (i64.rotl (local.get $c) (i64.const 12))
                  (i64.rotl (local.get $d) (i64.const 18)))))))
        (if (local.get $room)
          (then
            (i32.store (local.get $low) (i32.wrap_i64 (local.get $hash)))
            (i32.store
              (local.get $high)
              (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 32))))
            (local.set $low (i32.add (local.get $low) (i32.const 4)))
            (local.set $high (i32.add (local.get $high) (i32.const 4)))
            (local.set $room (i32.sub (local.get $room) (i32.const 1)))))
        (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
        (br $block)))
    (i64.store (local.get $state) (local.get $hash)))

  ;; MurmurHash3's 64-bit finaliser.
  (func $avalanche (param $h i64) (result i64)
    (local.set $h
      (i64.mul
        (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33)))
        (i64.const 0xff51afd7ed558ccd)))
    (local.set $h
      (i64.mul
        (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33)))
        (i64.const 0xc4ceb9fe1a85ec53)))
    (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))))
)
