//! The code that forward mode makes.

use super::*;

#[test]
fn pow() {
    insta::assert_snapshot!(made(
        "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  br ^2(%n, 1.0)
^2(%i: i64, %r: f64):
  %1: bool = arith.lt 0, %i
  br %1, ^3, ^4
^3:
  %2: i64 = arith.sub %i, 1
  %3: f64 = arith.mul %r, %x
  br ^2(%2, %3)
^4:
  return %r
}",
        &[true, false],
        1
    ));
}

#[test]
fn two_directions() {
    insta::assert_snapshot!(made(
        "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = math.sin %x
  %2: f64 = arith.sub %1, %y
  %3: f64 = arith.fdiv %2, 3.0
  return %3
}",
        &[true, true],
        2
    ));
}

#[test]
fn array_loop() {
    insta::assert_snapshot!(made(
        "
func @f(%a: array<f64, 1>, %b: array<f64, 1>, %n: array<i64, 1>) -> unit {
^1:
  %1: i64 = mem.length %a
  br ^2(1)
^2(%i: i64):
  %2: bool = arith.le %i, %1
  br %2, ^3, ^4
^3:
  %3: f64 = mem.load %a, %i {inbounds=true}
  %4: f64 = mem.load %b, %i
  %5: f64 = arith.mul %3, %4
  %6: i64 = mem.load %n, %i
  mem.store %a, %5, %6
  %7: i64 = arith.add %i, 1
  br ^2(%7)
^4:
  return nothing
}",
        &[true, false, true],
        1
    ));
}

#[test]
fn entry_that_is_a_header() {
    insta::assert_snapshot!(made(
        "
func @f(%x: f64, %acc: f64, %n: i64) -> f64 {
^1:
  %1: bool = arith.lt 0, %n
  br %1, ^2, ^3
^2:
  %2: i64 = arith.sub %n, 1
  %3: f64 = arith.mul %acc, %x
  br ^1(%x, %3, %2)
^3:
  return %acc
}",
        &[true, false, false],
        1
    ));
}

#[test]
fn mutable_struct_and_call() {
    insta::assert_snapshot!(made(
        "
mutable struct @Cell { x: f64, n: i64 }
func @g(%c: @Cell, %x: f64) -> f64 {
^1:
  %1: f64 = data.getfield %c, :x
  data.setfield %c, :x, %x
  return %1
}
func @f(%x: f64) -> f64 {
^1:
  %1: @Cell = data.new_object 2.0, 1
  %2: f64 = call @g(%1, %x)
  %3: f64 = call @g(%1, 0.0)
  return %3
}",
        &[true],
        1
    ));
}
