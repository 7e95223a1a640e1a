// SPDX-License-Identifier: BSD-2-Clause
/* Fingers on the lanes: one moves the picture, two zoom it, a tap describes a moment. Up and down is the browser's to scroll. */

/* The picture in which each finger, at a part of its width, has the time on which it was put; one keeps the span. */
function viewOfFingers(fingers, span) {
	const [first, second] = fingers;
	if (second) {
		/* Fingers that meet or pass each other zoom no further. */
		const apart = Math.max(.02, Math.abs(second.part - first.part)), [left, right] = first.ns < second.ns ? [first, second] : [second, first];
		const wide = Math.max(1, right.ns - left.ns) / apart, middle = (left.part + right.part) / 2;
		const from = (left.ns + right.ns) / 2 - middle * wide;
		return [from, from + wide];
	}
	const from = first.ns - first.part * span;
	return [from, from + span];
}

class LaneFingers {
	constructor(view) {
		Object.assign(this, {view, fingers: new Map(), isTap: false});
		const {canvas} = view;
		canvas.addEventListener("pointerdown", event => this.put(event));
		canvas.addEventListener("pointermove", event => this.move(event));
		canvas.addEventListener("pointerup", event => this.lift(event, true));
		canvas.addEventListener("pointercancel", event => this.lift(event, false));
		/* Two fingers are ours, wherever they move. */
		for (const name of ["touchstart", "touchmove"]) canvas.addEventListener(name, event => { if (event.touches.length > 1 && event.cancelable) event.preventDefault(); }, {passive: false});
	}

	partOf(event) {
		const {view} = this, box = view.canvas.getBoundingClientRect();
		return (event.clientX - box.left - view.left) / (view.width - view.left);
	}
	/* Each finger holds on to what lies below it now. */
	hold() {
		const {from, to} = this.view.shown;
		for (const finger of this.fingers.values()) finger.ns = from + finger.part * (to - from);
	}

	put(event) {
		const part = this.partOf(event);
		if (event.pointerType !== "touch" || this.fingers.size === 2 || part < 0 && !this.fingers.size) return;
		this.isTap = !this.fingers.size;
		this.fingers.set(event.pointerId, {part, x: event.clientX, y: event.clientY});
		this.hold();
		tip();
	}
	move(event) {
		const finger = this.fingers.get(event.pointerId), {shown} = this.view;
		if (!finger) return;
		if (this.isTap && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) < 8) return;
		this.isTap = false;
		finger.part = this.partOf(event);
		this.view.show(...viewOfFingers([...this.fingers.values()], shown.to - shown.from));
	}
	lift(event, isUp) {
		const finger = this.fingers.get(event.pointerId), row = finger && this.view.rowAt(event);
		if (!finger) return;
		this.fingers.delete(event.pointerId);
		this.hold();
		if (isUp && this.isTap && row) this.view.choose(row.lane, finger.ns);
		this.isTap = false;
	}
}
