;; Looks through JSON texts 16 bytes at a time, and hashes. `npm run build:wasm` makes
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
    (local $v v128)
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

        ;; A string: look for its closing quote.
        (local.set $start (i32.add (local.get $at) (i32.const 1)))
        (local.set $p (local.get $start))
        (local.set $flag (i32.const 0))
        (block $closed
          (loop $look
            (local.set $v (v128.load (local.get $p)))
            (local.set $mask
              (i8x16.bitmask
                (v128.or
                  (v128.or
                    (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x22)))
                    (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x5c))))
                  (i8x16.lt_u (local.get $v) (i8x16.splat (i32.const 0x20))))))
            (if (i32.eqz (local.get $mask))
              (then
                (local.set $p (i32.add (local.get $p) (i32.const 16)))
                (if (i32.gt_u (local.get $p) (local.get $end)) (then (br $fail)))
                (br $look)))
            (local.set $p (i32.add (local.get $p) (i32.ctz (local.get $mask))))
            (if (i32.ge_u (local.get $p) (local.get $end)) (then (br $fail)))
            (local.set $byte (i32.load8_u (local.get $p)))
            (br_if $closed (i32.eq (local.get $byte) (i32.const 0x22)))
            (if (i32.ne (local.get $byte) (i32.const 0x5c)) (then (br $fail)))
            (local.set $byte (i32.load8_u (i32.add (local.get $p) (i32.const 1))))
            (if (i32.eqz (call $canonical (local.get $byte)))
              (then
                (local.set $flag (i32.const 1))
                (if (i32.eq (local.get $byte) (i32.const 0x75))
                  (then (br_if $fail (i32.eqz (call $fourDigits (local.get $p)))))
                  (else (br_if $fail (i32.ne (local.get $byte) (i32.const 0x2f)))))))
            (local.set $p (i32.add (local.get $p) (i32.const 2)))
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

  ;; Whether a backslash and this byte are the canonical way to write a character: " \ n t r b f
  (func $canonical (param $byte i32) (result i32)
    (i32.or
      (i32.or
        (i32.or
          (i32.eq (local.get $byte) (i32.const 0x6e))
          (i32.eq (local.get $byte) (i32.const 0x22)))
        (i32.or
          (i32.eq (local.get $byte) (i32.const 0x5c))
          (i32.eq (local.get $byte) (i32.const 0x74))))
      (i32.or
        (i32.eq (local.get $byte) (i32.const 0x72))
        (i32.or
          (i32.eq (local.get $byte) (i32.const 0x62))
          (i32.eq (local.get $byte) (i32.const 0x66))))))

  ;; Whether four hexadecimal digits stand behind the backslash at `at` and its u.
  (func $fourDigits (param $at i32) (result i32)
    (local $n i32) (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u offset=2 (i32.add (local.get $at) (local.get $n))))
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

  ;; Chains the hashes of `blocks` blocks of 256 bytes from `at` on. The two words at `state` go in
  ;; and come out; the first `room` results are stored at `low` and `high`. Even and odd words run
  ;; in two chains for each half, so that the multiplications overlap.
  (func (export "hash")
    (param $at i32) (param $blocks i32) (param $state i32)
    (param $low i32) (param $high i32) (param $room i32)
    (local $lo i32) (local $hi i32) (local $end i32) (local $w i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local.set $lo (i32.load (local.get $state)))
    (local.set $hi (i32.load offset=4 (local.get $state)))
    (block $done
      (loop $block
        (br_if $done (i32.eqz (local.get $blocks)))
        (local.set $a (local.get $lo))
        (local.set $b (local.get $hi))
        (local.set $c (i32.xor (local.get $hi) (i32.const 0xc2b2ae3d)))
        (local.set $d (i32.xor (local.get $lo) (i32.const 0x27d4eb2f)))
        (local.set $end (i32.add (local.get $at) (i32.const 256)))
        (loop $words
          (local.set $w (i32.load (local.get $at)))
          (local.set $a (i32.mul (i32.xor (local.get $a) (local.get $w)) (i32.const 0x9e3779b1)))
          (local.set $b (i32.mul (i32.xor (local.get $b) (local.get $w)) (i32.const 0x85ebca77)))
          (local.set $w (i32.load offset=4 (local.get $at)))
          (local.set $c (i32.mul (i32.xor (local.get $c) (local.get $w)) (i32.const 0x9e3779b1)))
          (local.set $d (i32.mul (i32.xor (local.get $d) (local.get $w)) (i32.const 0x85ebca77)))
          (local.set $w (i32.load offset=8 (local.get $at)))
          (local.set $a
            (i32.mul
              (i32.xor (i32.rotl (local.get $a) (i32.const 13)) (local.get $w))
              (i32.const 0x9e3779b1)))
          (local.set $b
            (i32.mul
              (i32.xor (i32.rotl (local.get $b) (i32.const 17)) (local.get $w))
              (i32.const 0x85ebca77)))
          (local.set $w (i32.load offset=12 (local.get $at)))
          (local.set $c
            (i32.mul
              (i32.xor (i32.rotl (local.get $c) (i32.const 13)) (local.get $w))
              (i32.const 0x9e3779b1)))
          (local.set $d
            (i32.mul
              (i32.xor (i32.rotl (local.get $d) (i32.const 17)) (local.get $w))
              (i32.const 0x85ebca77)))
          (local.set $a (i32.rotl (local.get $a) (i32.const 13)))
          (local.set $b (i32.rotl (local.get $b) (i32.const 17)))
          (local.set $c (i32.rotl (local.get $c) (i32.const 13)))
          (local.set $d (i32.rotl (local.get $d) (i32.const 17)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $words (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $a
          (call $avalanche (i32.add (local.get $a) (i32.rotl (local.get $c) (i32.const 9)))))
        (local.set $b
          (call $avalanche (i32.add (local.get $b) (i32.rotl (local.get $d) (i32.const 9)))))
        (local.set $lo (i32.add (local.get $a) (local.get $b)))
        (local.set $hi
          (i32.add (local.get $b) (i32.mul (local.get $lo) (i32.const 0x9e3779b1))))
        (if (local.get $room)
          (then
            (i32.store (local.get $low) (local.get $lo))
            (i32.store (local.get $high) (local.get $hi))
            (local.set $low (i32.add (local.get $low) (i32.const 4)))
            (local.set $high (i32.add (local.get $high) (i32.const 4)))
            (local.set $room (i32.sub (local.get $room) (i32.const 1)))))
        (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
        (br $block)))
    (i32.store (local.get $state) (local.get $lo))
    (i32.store offset=4 (local.get $state) (local.get $hi)))

  ;; MurmurHash3's 32-bit finaliser.
  (func $avalanche (param $h i32) (result i32)
    (local.set $h
      (i32.mul
        (i32.xor (local.get $h) (i32.shr_u (local.get $h) (i32.const 16)))
        (i32.const 0x85ebca6b)))
    (local.set $h
      (i32.mul
        (i32.xor (local.get $h) (i32.shr_u (local.get $h) (i32.const 13)))
        (i32.const 0xc2b2ae35)))
    (i32.xor (local.get $h) (i32.shr_u (local.get $h) (i32.const 16))))
)
